"""How deep the pages of a crawl lie, and on which hosts. Both are counted in the table, which takes a second for a
hundred thousand pages; so while a crawl runs they are counted now and then, and once more when it is over."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Avg, Count, F, Q, Sum, Value
from django.db.models.functions import Concat, StrIndex, Substr

from crawler.core.outcomes import Kind, Outcome
from crawler.core.work import PAGE
from crawler.models import Crawl, Page
from crawler.reports import kept

HOSTS = 20  # those with the most pages
EVERY = 10.0  # seconds between two counts of a crawl, at least
SHARE = 20.0  # a count that took long is followed by a pause so many times as long
CHEAP = 5_000  # pages that are counted in the blink of an eye
KEPT = 86_400  # seconds a count is remembered
LONGEST = 120  # seconds after which whoever counts is taken for dead

_TROUBLE = [Outcome.CLIENT_ERROR, Outcome.SERVER_ERROR, *(o for o in Outcome if o.kind is Kind.FAILED)]


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
        kept.numbers_about(crawl).set(_key(crawl), made, KEPT)
    finally:
        cache.delete(_busy(crawl))
    return made


def cheap_breakdown(crawl: Crawl, now: float) -> Breakdown | None:
    """The same for a page that must not wait: None when it would have to count many rows first."""
    return breakdown(crawl, now) if crawl.discovered <= CHEAP else last_breakdown(crawl)


def last_breakdown(crawl: Crawl) -> Breakdown | None:
    """The last count, however old."""
    known: Breakdown | None = kept.numbers_about(crawl).get(_key(crawl))
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
        errors=Count("id", filter=Q(outcome__in=_TROUBLE)),
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
