"""Where a crawl stands right now, as plain values for the web page and the command line's progress bar."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Avg, Count, F, Q, QuerySet, Sum, Value
from django.db.models.functions import Concat, StrIndex, Substr

from crawler.core.crawl import progress
from crawler.core.crawl.counters import RECENT_PAGES
from crawler.core.crawl.messages import PAGE
from crawler.core.crawl.outcomes import ERRORS, USABLE, Outcome
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.reports.receipt import receipt_of

SHOWN = RECENT_PAGES  # pages in a list on the crawl page


def progress_of(crawl: Crawl, now: float) -> dict[str, Any]:
    """State, counts, how far it is (`done` of `total`, see `core.crawl.progress.standing`), pages a second and, when
    one can be honest, seconds left (`eta`, else None)."""
    tallies, max_pages = crawl.tallies, crawl.chosen.max_pages
    stands = progress.standing(tallies, max_pages)
    running = not crawl.is_over
    return {
        "id": str(crawl.id),
        "state": str(crawl.state),
        "discovered": tallies.discovered,
        "closed": tallies.closed,
        "open": tallies.open,
        "done": stands.done,
        "total": stands.total,
        "at_most": stands.at_most,
        "percent": stands.percent,
        "rate": rate_of(crawl, now) if running else None,
        "eta": progress.eta(crawl.samples, now, tallies, max_pages) if running else None,
        "receipt": receipt_of(crawl),
    }


def standing_of(crawl: Crawl) -> progress.Standing:
    """How far it is."""
    return progress.standing(crawl.tallies, crawl.chosen.max_pages)


def rate_of(crawl: Crawl, now: float) -> float | None:
    """Pages a second lately, of those its standing counts; None while there is too little to measure."""
    if crawl.chosen.max_pages is None:
        return progress.rate(crawl.samples, now, crawl.tallies.closed)
    return progress.rate(crawl.samples, now, crawl.tallies.asked, progress.ASKED)


def last_pages(crawl: Crawl) -> list[Page]:
    """The pages closed last, newest first."""
    if "closed" in crawl.recent:
        return [page for page in _in_order(crawl.recent["closed"]) if page.fetched_at is not None]
    found = Page.objects.filter(crawl=crawl, fetched_at__isnull=False)  # a crawl from before they were kept
    return list(found.order_by("-fetched_at")[:SHOWN])


def troubled_pages(crawl: Crawl) -> list[Page]:
    """The newest pages that failed or answered with an error status, dead letters aside: they have a list of theirs."""
    if "troubled" in crawl.recent:
        return [page for page in _in_order(crawl.recent["troubled"]) if _is_troubled(page)]
    found = Page.objects.filter(crawl=crawl, given_up=False, outcome__in=ERRORS)
    return list(found.order_by("-id")[:SHOWN])


def troubled_start_pages(crawl: Crawl) -> list[Page]:
    """Start pages that gave nothing to follow: closed without a 2xx or 3xx response, and not by cancelling. From the
    pages of a list nothing was to be followed."""
    if crawl.source:
        return []
    fine = [*USABLE, Outcome.CANCELLED]
    return list(_start_pages(crawl).filter(status=Page.CLOSED).exclude(outcome__in=fine).order_by("id"))


def came_to_nothing(crawl: Crawl) -> bool:
    """Whether a crawl that is finished could not do what was asked: none of its start pages gave anything. It is what
    `bin/crawl` ends with exit code 1 for."""
    troubled = troubled_start_pages(crawl)
    return bool(troubled) and len(troubled) == start_count(crawl)


def start_count(crawl: Crawl) -> int:
    """How many start pages there are."""
    return _start_pages(crawl).count()


def _start_pages(crawl: Crawl) -> QuerySet[Page]:
    """By their keys: an index finds those among a million pages. No list is asked for here, whose pages are all of
    them start pages."""
    return Page.objects.filter(crawl=crawl, kind=PAGE, key__in=[key_of(url) for url in crawl.start_urls])


def _in_order(ids: Sequence[int]) -> list[Page]:
    """The pages with these ids, in their order. They are asked for by nothing else: an index of the crawl's pages would
    be taken then, and all of them read to find these few."""
    by_id = Page.objects.in_bulk(ids[:SHOWN])
    return [by_id[page] for page in ids if page in by_id]


def _is_troubled(page: Page) -> bool:
    return page.outcome in ERRORS and not page.given_up


# How deep the pages of a crawl lie, and on which hosts. Both are counted in the table, which takes a second for a
# hundred thousand pages; so while a crawl runs they are counted now and then, and once more when it is over.

HOSTS = 20  # those with the most pages
EVERY = 10.0  # seconds between two counts of a crawl, at least
SHARE = 20.0  # a count that took long is followed by a pause so many times as long
CHEAP = 5_000  # pages that are counted in the blink of an eye
KEPT = 86_400  # seconds a count is remembered
LONGEST = 120  # seconds after which whoever counts is taken for dead


@dataclass(frozen=True)
class Host:
    """The pages of one host."""

    name: str  # with its port when that is not the usual one
    pages: int
    open: int
    errors: int  # failed, or answered with an error status
    bytes: int
    elapsed_ms: int  # of an answer, on average


@dataclass(frozen=True)
class Breakdown:
    """The pages of one crawl, counted in two ways at one moment."""

    depths: dict[int, int]  # links from a start URL -> pages
    hosts: list[Host]  # the most pages first
    has_more_hosts: bool
    state: tuple[str, ...]  # what the crawl was like then
    made_at: float  # epoch seconds
    took: float  # seconds


def breakdown(crawl: Crawl, now: float) -> Breakdown | None:
    """The count to be shown now: a new one when it is time for one, else the last. None while the first is being made
    for somebody else."""
    known = last_breakdown(crawl)
    if known and _is_fresh(known, crawl, now):
        return known
    if not cache.add(_busy(crawl), now, LONGEST):
        return known
    try:
        made = _counted(crawl, now)
        result_cache.numbers_about(crawl).set(_key(crawl), made, KEPT)
    finally:
        cache.delete(_busy(crawl))
    return made


def cheap_breakdown(crawl: Crawl, now: float) -> Breakdown | None:
    """The same for a page that must not wait: None when it would have to count many rows first."""
    return breakdown(crawl, now) if crawl.discovered <= CHEAP else last_breakdown(crawl)


def last_breakdown(crawl: Crawl) -> Breakdown | None:
    """The last count, however old."""
    known: Breakdown | None = result_cache.numbers_about(crawl).get(_key(crawl))
    return known


def is_of_now(known: Breakdown, crawl: Crawl) -> bool:
    """Whether the crawl is still in the state it was counted in; if not, somebody is counting it anew."""
    return known.state == _state(crawl)


def _is_fresh(known: Breakdown, crawl: Crawl, now: float) -> bool:
    if not is_of_now(known, crawl):
        return False
    return crawl.is_over or now - known.made_at < max(EVERY, SHARE * known.took)


def _state(crawl: Crawl) -> tuple[str, ...]:
    """While it stays the same, only time makes a count stale; and none at all once the crawl is over."""
    return (str(crawl.state), str(crawl.round), str(crawl.finished_at))


def _counted(crawl: Crawl, now: float) -> Breakdown:
    began = time.perf_counter()
    hosts = _hosts(crawl)
    depths = _depths(crawl)
    took = time.perf_counter() - began
    return Breakdown(depths, hosts[:HOSTS], len(hosts) > HOSTS, _state(crawl), now, took)


def _depths(crawl: Crawl) -> dict[int, int]:
    rows = Page.objects.filter(crawl=crawl, kind=PAGE).order_by("depth").values_list("depth")
    return dict(rows.annotate(pages=Count("id")))


def _hosts(crawl: Crawl) -> list[Host]:
    """One more than are shown, when there are more."""
    rows = Page.objects.filter(crawl=crawl, kind=PAGE).order_by().annotate(host=_HOST).values("host")
    counted = rows.annotate(
        pages=Count("id"),
        open=Count("id", filter=Q(status=Page.OPEN)),
        errors=Count("id", filter=Q(outcome__in=ERRORS)),
        size=Sum("bytes"),
        elapsed=Avg("elapsed_ms", filter=Q(http_status__isnull=False)),
    ).order_by("-pages", "host")
    return [
        Host(row["host"], row["pages"], row["open"], row["errors"], row["size"], round(row["elapsed"] or 0))
        for row in counted[: HOSTS + 1]
    ]


_BEHIND_SCHEME = Substr(F("url"), StrIndex(F("url"), Value("://")) + 3)
_HOST = Substr(_BEHIND_SCHEME, 1, StrIndex(Concat(_BEHIND_SCHEME, Value("/")), Value("/")) - 1)
"""What stands between "://" and the next "/"."""


def _key(crawl: Crawl) -> str:
    return f"breakdown:{crawl.pk}"


def _busy(crawl: Crawl) -> str:
    return f"breakdown:{crawl.pk}:busy"
