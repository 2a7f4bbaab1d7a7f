"""Queries of page rows. Read-only: all writes are in `crawler.storage.writer`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

import msgspec
from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.priorities import USUAL_PRIORITY
from crawler.core.politeness.shares import USUAL_WEIGHT
from crawler.core.protocol.completion import State
from crawler.core.protocol.counters import Tallies, Watermark, tallied
from crawler.core.protocol.discovery import Place
from crawler.core.protocol.messages import PAGE
from crawler.core.urls.normalise import key_of, site_of
from crawler.models import Crawl, Page
from crawler.storage.bulk import is_among


class OpenPage(msgspec.Struct, frozen=True):
    """What dispatch needs of a page."""

    id: int
    url: str
    attempts: int
    due_at: float
    deaths: int = 0
    died_with: str = ""
    expires_at: float | None = None
    priority: int = USUAL_PRIORITY
    kind: str = PAGE
    lane_reason: str = ""  # why it takes a slot lane
    not_before: float | None = None  # the time a user chose for it
    public_only: bool = False  # whether it may request none of the private addresses that its crawl may

    @property
    def waits_until(self) -> float:
        """Epoch seconds before which it is not requested, by a retry or a user's wish."""
        return max(self.due_at, self.not_before or 0.0)


OPEN_PAGE_FIELDS = OpenPage.__struct_fields__


def all_rows(crawl: UUID) -> QuerySet[Page]:
    """All rows of a crawl in the order of their discovery. The condition on `id` is always true: with it SQLite uses
    the index in this order, and without it never, where an index of open pages or dead letters is faster."""
    return Page.objects.filter(crawl_id=crawl, id__gt=0).order_by("id")


def site_pages(crawl: Crawl) -> QuerySet[Page]:
    """The pages of the site, without sitemaps and links to other sites."""
    return Page.objects.filter(crawl=crawl, kind=PAGE)


def start_pages(crawl: Crawl) -> QuerySet[Page]:
    """By their keys, which have an index. Not for crawls over lists, whose pages are all start pages."""
    return Page.objects.filter(crawl=crawl, kind=PAGE, key__in=[key_of(url) for url in crawl.start_urls])


def watermark(crawl: UUID) -> Watermark:
    """How far this crawl has come, read by an index. Raises Crawl.DoesNotExist."""
    newest = all_rows(crawl).order_by("-id").values("id")[:1]
    newest_row, requests = Crawl.objects.filter(id=crawl).values_list(Subquery(newest), "requests").get()
    return Watermark(newest_row or 0, requests)


def places(crawl: UUID, ids: Iterable[int]) -> dict[int, Place]:
    """The places of the open ones of these pages."""
    rows = _open_rows(crawl, ids).values_list("id", "depth", "hops", "kind", "url", "public_only")
    return {page: Place(depth, hops, kind, url, limited) for page, depth, hops, kind, url, limited in rows}


def public_only(crawl: UUID, ids: Iterable[int]) -> set[int]:
    """Which of these pages may request none of the private addresses that their crawl may."""
    return set(rows_of(crawl, ids).filter(public_only=True).values_list("id", flat=True))


def has_host(crawl: UUID, host: str) -> bool:
    """Whether a page of this crawl is on this host (host[:port]), with or without "www."."""
    site = site_of(host)
    return all_rows(crawl).filter(on_host(site) | on_host(f"www.{site}"), depth=0).exists()


def on_host(host: str) -> Q:
    """The pages of exactly this host; the table has no column of it."""
    return Q(url__startswith=f"http://{host}/") | Q(url__startswith=f"https://{host}/")


def still_open(crawl: UUID, ids: Iterable[int]) -> set[int]:
    """Which of these pages are open."""
    return set(_open_rows(crawl, ids).values_list("id", flat=True))


def open_with_new_urls(crawl: UUID, ids: Iterable[int]) -> dict[int, str | None]:
    """The open ones of these pages, with their URL; None for sitemaps, and for pages that had a response before they
    were opened again."""
    rows = _open_rows(crawl, ids).values_list("id", "kind", "fetched_at", "url")
    return {page: url if kind == PAGE and fetched_at is None else None for page, kind, fetched_at, url in rows}


def open_pages(crawl: UUID, ids: Iterable[int]) -> dict[int, OpenPage]:
    """The open ones of these pages."""
    return {page.id: page for page in _open(_open_rows(crawl, ids))}


def next_open(crawl: UUID, priority: int, after: int, at_most: int, depth: int | None) -> list[OpenPage]:
    """Open pages of one priority in the order of their discovery, behind row `after`; of one depth only, when given."""
    rows = Page.objects.filter(crawl_id=crawl, status=Page.OPEN, priority=priority, id__gt=after).order_by("id")
    if depth is not None:
        rows = rows.filter(depth=depth)
    return list(_open(rows[:at_most]))


def priorities(crawl: UUID) -> list[int]:
    """The priorities of the pages ever opened in this crawl, the most urgent first."""
    found = Crawl.objects.filter(id=crawl).values_list("priorities", flat=True).first()
    return found or [USUAL_PRIORITY]


def open_with_attempts(crawl: UUID) -> list[OpenPage]:
    """Open pages that were requested at least once, or may have been by a worker that died."""
    was_tried = Q(attempts__gt=0) | ~Q(died_with="") | ~Q(lane_reason="")
    return list(_open(Page.objects.filter(was_tried, crawl_id=crawl, status=Page.OPEN).order_by("id")))


def shallowest_open(crawl: UUID, soon: float) -> int | None:
    """The smallest depth with an open page. Pages that are postponed beyond `soon` (epoch seconds), by a Retry-After or
    by a user, count only when there are no others, and then by the time of the first: one of them does not block all
    deeper pages."""
    rows = Page.objects.filter(crawl_id=crawl, status=Page.OPEN)
    waiting = Q(due_at__gt=soon) & (Q(put_off__isnull=False) | Q(not_before__gt=soon))
    depths = rows.aggregate(least=Min("depth"), sooner=Min("depth", filter=~waiting), first=Min("not_before"))
    if depths["sooner"] is not None or depths["first"] is None:
        least: int | None = depths["least"] if depths["sooner"] is None else depths["sooner"]
        return least
    return rows.order_by("due_at", "depth").values_list("depth", flat=True).first()


def postponed(crawl: UUID, until: float) -> Q:
    """Open pages with a Retry-After later than `until`, in epoch seconds."""
    return Q(crawl_id=crawl, status=Page.OPEN, put_off__isnull=False, due_at__gt=until)


def count_postponed(crawl: UUID, now: float) -> int:
    """How many open pages have a Retry-After in the future."""
    return Page.objects.filter(postponed(crawl, now)).count()


def running_weights() -> list[int]:
    """The weights of all running crawls, see `core.politeness.shares`."""
    found = Crawl.objects.filter(state=State.RUNNING).values_list("options__weight", flat=True)
    return [weight or USUAL_WEIGHT for weight in found]  # crawls of an earlier version have none


def has_open(crawl: UUID) -> bool:
    """The second completion check: does the table hold a page whose outcome is not known?"""
    return Page.objects.filter(crawl_id=crawl, status=Page.OPEN).exists()


def count_rows(crawl: UUID) -> Tallies:
    """The tallies counted from the rows, without links to other sites that were not requested."""
    rows = Page.objects.filter(crawl_id=crawl).exclude(outcome=Outcome.EXTERNAL)
    groups = rows.order_by().values_list("outcome", "http_status")
    return tallied(groups.annotate(pages=Count("id")))


def next_expiry(crawl: UUID) -> float | None:
    """Epoch seconds when the next open page expires."""
    open_pages = Page.objects.filter(crawl_id=crawl, status=Page.OPEN, expires_at__isnull=False)
    soonest: float | None = open_pages.aggregate(soonest=Min("expires_at"))["soonest"]
    return soonest


def next_expiries() -> dict[UUID, float]:
    """Running crawl -> epoch seconds when its next open page expires; crawls without one are left out. One step in an
    index for each crawl."""
    expiring = Page.objects.filter(crawl=OuterRef("id"), status=Page.OPEN, expires_at__isnull=False)
    soonest = Subquery(expiring.order_by("expires_at").values("expires_at")[:1])
    crawls = Crawl.objects.filter(state=State.RUNNING).annotate(soonest=soonest).filter(soonest__isnull=False)
    return dict(crawls.values_list("id", "soonest"))


def rows_of(crawl: UUID, ids: Iterable[int]) -> QuerySet[Page]:
    """These pages, if they are of this crawl. The condition on the crawl is an expression that no index covers: SQLite
    would use an index of the crawl's pages and read a million of them to find these few."""
    return Page.objects.alias(of=Coalesce("crawl_id", "crawl_id")).filter(is_among("crawler_page.id", ids), of=crawl)


def _open_rows(crawl: UUID, ids: Iterable[int]) -> QuerySet[Page]:
    """The open ones of these pages."""
    return rows_of(crawl, ids).filter(status=Page.OPEN)


def _open(rows: QuerySet[Page]) -> Iterator[OpenPage]:
    for values in rows.values_list(*OPEN_PAGE_FIELDS):
        yield OpenPage(*values)
