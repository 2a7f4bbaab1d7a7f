"""Pages that are not requested because they belong to an endless series. Capabilities decide which: the seam
"page_filters" has what they give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

import msgspec
from django.db.models import F, Q, QuerySet

from crawler import registry
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page, Trap


class Quarantine(msgspec.Struct, frozen=True):
    """Open pages that are not requested, by ids."""

    trap_id: int
    error: str
    pages: Sequence[int]


class TrapDecision(msgspec.Struct, frozen=True):
    """The pages to insert, and what becomes of others."""

    pages: Sequence[Discovery]
    left_out: Collection[bytes] = frozenset()  # keys of pages that get no row
    set_aside: Sequence[Quarantine] = ()
    reopened: Sequence[int] = ()  # pages in quarantine to open again


class PageFilter(msgspec.Struct, frozen=True):
    """One capability's."""

    sort_out: Callable[[Crawl, Sequence[Discovery], Mapping[str, PageResult]], TrapDecision]
    """Called with the crawl, whose row is locked, pages that were found, and the results by URL that closed pages for
    the first time, in the transaction that inserts the former."""


@cache
def _filters() -> tuple[PageFilter, ...]:
    return registry.entries("page_filters", PageFilter)


def sort_out(crawl: Crawl, found: Sequence[Discovery], closed: Mapping[str, PageResult]) -> TrapDecision:
    """What the filter decides; there is at most one."""
    return next((each.sort_out(crawl, found, closed) for each in _filters()), TrapDecision(found))


def shown(crawl: Crawl) -> QuerySet[Trap]:
    """The traps of a crawl that users see: those that keep pages out, or did until they were released."""
    caught = Q(quarantined__gt=0) | Q(left_out__gt=0) | Q(released=True)
    return Trap.objects.filter(caught, crawl=crawl).order_by("id")


def quarantined(traps: QuerySet[Trap]) -> QuerySet[Page]:
    """The pages in quarantine for these traps, in the order of their discovery."""
    crawls = traps.values("crawl_id")
    ids = traps.values("id")
    return Page.objects.filter(crawl_id__in=crawls, trap_id__in=ids, outcome=Outcome.TRAP).order_by("id")


def release(traps: QuerySet[Trap]) -> int:
    """Release these traps; returns how many. `writer.release` opens their pages."""
    return traps.update(released=True, pages=F("pages") + F("quarantined"), quarantined=0)
