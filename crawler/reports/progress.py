"""State and progress of a crawl, as plain values for the web page and the progress bar of the command line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from django.core.cache import cache
from django.db.models import Avg, Count, F, Q, Sum, Value
from django.db.models.functions import Concat, StrIndex, Substr

from crawler.core.pages.outcomes import ERRORS, USABLE, Outcome
from crawler.core.protocol import progress
from crawler.core.protocol.counters import RECENT_PAGES
from crawler.core.protocol.messages import PAGE
from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.reports.receipt import receipt_of
from crawler.storage.queries import start_pages

MAX_LISTED = RECENT_PAGES  # pages in a list on the crawl page


def progress_of(crawl: Crawl, now: float) -> dict[str, Any]:
    """State, counts, progress (`done` of `total`, see `core.protocol.progress.standing`), pages a second and, when it
    can be estimated, seconds left (`eta`, else None)."""
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


def standing_of(crawl: Crawl) -> progress.Completion:
    """The progress of a crawl."""
    return progress.standing(crawl.tallies, crawl.chosen.max_pages)


def rate_of(crawl: Crawl, now: float) -> float | None:
    """Recent pages a second, of the pages that count for progress; None without enough data."""
    if crawl.chosen.max_pages is None:
        return progress.rate(crawl.samples, now, crawl.tallies.closed)
    return progress.rate(crawl.samples, now, crawl.tallies.asked, progress.ASKED)


def last_pages(crawl: Crawl) -> list[Page]:
    """The most recently closed pages, newest first."""
    if "closed" in crawl.recent:
        return [page for page in _in_order(crawl.recent["closed"]) if page.fetched_at is not None]
    found = Page.objects.filter(crawl=crawl, fetched_at__isnull=False)  # a crawl of a version that did not store them
    return list(found.order_by("-fetched_at")[:MAX_LISTED])


def troubled_pages(crawl: Crawl) -> list[Page]:
    """The newest pages that failed or have an error status, without dead letters, which have their own list."""
    if "troubled" in crawl.recent:
        return [page for page in _in_order(crawl.recent["troubled"]) if _is_troubled(page)]
    found = Page.objects.filter(crawl=crawl, given_up=False, outcome__in=ERRORS)
    return list(found.order_by("-id")[:MAX_LISTED])


def troubled_start_pages(crawl: Crawl) -> list[Page]:
    """Start pages without links to follow: closed without a 2xx or 3xx response, and not cancelled. A crawl over a list
    follows no links and has none."""
    if crawl.source:
        return []
    fine = [*USABLE, Outcome.CANCELLED]
    return list(start_pages(crawl).filter(status=Page.CLOSED).exclude(outcome__in=fine).order_by("id"))


def came_to_nothing(crawl: Crawl) -> bool:
    """Whether a finished crawl failed: none of its start pages could be used. `bin/crawl` then exits with code 1."""
    troubled = troubled_start_pages(crawl)
    return bool(troubled) and len(troubled) == start_count(crawl)


def start_count(crawl: Crawl) -> int:
    """The number of start pages."""
    return start_pages(crawl).count()


def _in_order(ids: Sequence[int]) -> list[Page]:
    """The pages with these ids, in their order. The query has no other condition: with one on the crawl the database
    would use the index of its pages and read all of them."""
    by_id = Page.objects.in_bulk(ids[:MAX_LISTED])
    return [by_id[page] for page in ids if page in by_id]


def _is_troubled(page: Page) -> bool:
    return page.outcome in ERRORS and not page.given_up


# Pages by depth and by host. To count 100,000 pages takes a second, so they are counted at intervals while a crawl
# runs, and once when it is over.

MAX_HOSTS = 20  # those with the most pages
EVERY = 10.0  # minimum seconds between two counts of a crawl
SHARE = 20.0  # the pause after a count, in multiples of its duration
CHEAP = 5_000  # pages that can be counted in a request
COUNT_TTL_S = 86_400  # seconds a count is cached
LONGEST = 120  # seconds after which a counting process is taken for dead


class Host(msgspec.Struct, frozen=True):
    """The pages of one host."""

    name: str  # with its port unless it is the default one
    pages: int
    open: int
    errors: int  # failed, or with an error status
    bytes: int
    elapsed_ms: int  # of a response, on average


class Breakdown(msgspec.Struct, frozen=True):
    """The pages of one crawl by depth and by host at one time."""

    depths: dict[int, int]  # links from a start URL -> pages
    hosts: list[Host]  # the most pages first
    has_more_hosts: bool
    state: tuple[str, ...]  # the state of the crawl then
    made_at: float  # epoch seconds
    took: float  # seconds


def breakdown(crawl: Crawl, now: float) -> Breakdown | None:
    """The current count: a new one when it is due, else the last. None while another process makes the first one."""
    known = last_breakdown(crawl)
    if known and _is_fresh(known, crawl, now):
        return known
    if not cache.add(_busy(crawl), now, LONGEST):
        return known
    try:
        made = _counted(crawl, now)
        result_cache.cache_for(crawl).set(_key(crawl), made, COUNT_TTL_S)
    finally:
        cache.delete(_busy(crawl))
    return made


def cheap_breakdown(crawl: Crawl, now: float) -> Breakdown | None:
    """The same without counting many rows: None when that would be necessary."""
    return breakdown(crawl, now) if crawl.discovered <= CHEAP else last_breakdown(crawl)


def last_breakdown(crawl: Crawl) -> Breakdown | None:
    """The last count, however old."""
    known: Breakdown | None = result_cache.cache_for(crawl).get(_key(crawl))
    return known


def is_of_now(known: Breakdown, crawl: Crawl) -> bool:
    """Whether the crawl is still in the state of the count; if not, another process is counting."""
    return known.state == _state(crawl)


def _is_fresh(known: Breakdown, crawl: Crawl, now: float) -> bool:
    if not is_of_now(known, crawl):
        return False
    return crawl.is_over or now - known.made_at < max(EVERY, SHARE * known.took)


def _state(crawl: Crawl) -> tuple[str, ...]:
    """While this is the same, a count becomes stale by time only, and never when the crawl is over."""
    return (str(crawl.state), str(crawl.round), str(crawl.finished_at))


def _counted(crawl: Crawl, now: float) -> Breakdown:
    began = time.perf_counter()
    hosts = _hosts(crawl)
    depths = _depths(crawl)
    took = time.perf_counter() - began
    return Breakdown(depths, hosts[:MAX_HOSTS], len(hosts) > MAX_HOSTS, _state(crawl), now, took)


def _depths(crawl: Crawl) -> dict[int, int]:
    rows = Page.objects.filter(crawl=crawl, kind=PAGE).order_by("depth").values_list("depth")
    return dict(rows.annotate(pages=Count("id")))


def _hosts(crawl: Crawl) -> list[Host]:
    """One more than are shown, if there are more."""
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
        for row in counted[: MAX_HOSTS + 1]
    ]


_BEHIND_SCHEME = Substr(F("url"), StrIndex(F("url"), Value("://")) + 3)
_HOST = Substr(_BEHIND_SCHEME, 1, StrIndex(Concat(_BEHIND_SCHEME, Value("/")), Value("/")) - 1)
"""The text between "://" and the next "/"."""


def _key(crawl: Crawl) -> str:
    return f"breakdown:{crawl.pk}"


def _busy(crawl: Crawl) -> str:
    return f"breakdown:{crawl.pk}:busy"
