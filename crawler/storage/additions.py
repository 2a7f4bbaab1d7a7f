"""A part of the writer (see `crawler.storage.writer`): inserts the pages that a user adds, moves open ones in the
queue, and opens closed ones again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Count, Q, QuerySet

from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.placement import Placement
from crawler.core.politeness.priorities import priority_of
from crawler.core.protocol.retries import expiry
from crawler.core.url_lists.entries import Entry
from crawler.core.url_lists.wanted import PageRequest
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, PageFacts, PageLinks
from crawler.storage import page_rows, queries, sql
from crawler.storage.bulk import chunks, is_among
from crawler.storage.counters import CounterChange, change_of
from crawler.storage.queries import OpenPage

NOT_AGAIN = (Outcome.TRAP, Outcome.EXTERNAL)
"""Outcomes of pages that are not opened again: a trap is released as a whole, and a recorded link is no page."""

HandedOut = Callable[[Sequence[OpenPage]], set[int]]
"""The ids of those pages that are handed out to a fetch job now."""


class AdditionResult(msgspec.Struct, frozen=True):
    """What happened to the pages that a user named."""

    added: int = 0  # inserted
    moved: tuple[OpenPage, ...] = ()  # open ones with another place in the queue, as they were before
    waiting: int = 0  # open ones that stay where they are
    again: tuple[int, ...] = ()  # ids of closed ones that are open again
    closed: tuple[str, ...] = ()  # URLs of those that stay closed


def add(
    crawl: UUID,
    wanted: Mapping[str, PageRequest],
    now: float,
    *,
    again: bool,
    handed_out: HandedOut,
    public_only: bool = False,
) -> AdditionResult:
    """Insert these pages (by their normalised URLs), like start pages; give those that are open their new place, and
    open closed ones if they are wanted `again`. All in one transaction.

    A page that is handed out keeps its priority: its entry in the ready queue is found by it. `public_only`: who names
    them may not allow private addresses. So it is for new pages and those that are opened again; one that is open is
    requested by the right of any person who named it.
    """
    with change_of(crawl, now) as (row, change):
        known = {bytes(page.key): page for page in _rows_of(crawl, map(key_of, wanted))}
        new = [page for page in wanted.items() if key_of(page[0]) not in known]
        change.discovered = _insert(row, new, change, now, public_only=public_only)
        open_pages = [_as_open(page) for page in known.values() if page.status == Page.OPEN]
        places = {known[key].pk: page.place for url, page in wanted.items() if (key := key_of(url)) in known}
        moved = [page for page in open_pages if places[page.id].is_given]
        if moved:
            _move(row, moved, places, change, now, handed_out)
        closed = [page for page in known.values() if page.status == Page.CLOSED]
        ids = [page.pk for page in closed if again and _may_open(page)]
        if ids:
            _open_again(row, ids, places, change, now)
        named_again = ids if public_only else [*ids, *(page.id for page in open_pages)]
        others = queries.rows_of(crawl, named_again).filter(public_only=not public_only)
        others.update(public_only=public_only)
    return AdditionResult(
        added=change.discovered,
        moved=tuple(moved),
        waiting=len(open_pages) - len(moved),
        again=tuple(ids),
        closed=tuple(page.url for page in closed if page.id not in set(ids)),
    )


def open_again(crawl: UUID, ids: Sequence[int], place: Placement, now: float) -> Sequence[int]:
    """Open the closed ones of these pages again, as if they had never been requested; returns their ids. Requests that
    were made stay counted."""
    with change_of(crawl, now) as (row, change):
        pages = queries.rows_of(crawl, ids).filter(status=Page.CLOSED)
        wanted = list(pages.exclude(outcome__in=NOT_AGAIN).order_by("id").values_list("id", flat=True))
        if wanted:
            _open_again(row, wanted, dict.fromkeys(wanted, place), change, now)
    return wanted


def close_all(crawl: UUID, ids: Sequence[int], outcome: Outcome, error: str, now: float) -> None:
    """Close the open ones of these pages without a request."""
    with change_of(crawl, now) as (_, change):
        pages = queries.rows_of(crawl, ids).filter(status=Page.OPEN)
        change.count_closed(outcome, pages.update(status=Page.CLOSED, outcome=outcome.value, error=error))


def change_deadline(crawl: Crawl, before: float | None, after: float | None) -> None:
    """Give the open pages of a crawl, whose row is locked, their end under another deadline (seconds from the beginning
    of the round; None = none). Pages whose time is over before that keep it."""
    began = crawl.round_began_at.timestamp()
    pages = Page.objects.filter(crawl_id=crawl.id, status=Page.OPEN)
    if before is not None:
        pages.filter(expires_at=began + before).update(expires_at=None)
    if after is not None:
        later = Q(expires_at__isnull=True) | Q(expires_at__gt=began + after)
        pages.filter(later).update(expires_at=began + after)


def reopen(crawl: UUID, ids: Sequence[int] | None, now: float) -> int:
    """Reopen dead letters (all of them, or those among `ids`), as if they had never been fetched; returns how many."""
    with change_of(crawl, now) as (row, change):
        pages = Page.objects.filter(crawl_id=crawl, status=Page.CLOSED, given_up=True)
        if ids is not None:
            pages = pages.filter(is_among("id", ids))
        _count_reopened(pages, change)
        reopened = pages.update(**_as_new(_expiry(row, now), now), fetched_at=None)
        change.retries += reopened
        return reopened


def _insert(
    crawl: Crawl, pages: Sequence[tuple[str, PageRequest]], change: CounterChange, now: float, *, public_only: bool
) -> int:
    """Insert these pages, whose keys are new; returns how many."""
    if not pages:
        return 0
    priorities = [priority_of(url, page.place.priority, crawl.chosen.priorities) for url, page in pages]
    entries = [
        Entry(0, url, ttl=_ttl(crawl, page.place, now), not_before=page.place.not_before, meta=page.meta)
        for url, page in pages
    ]
    change.priorities.update(priorities)
    return sql.insert_listed(crawl, entries, priorities, now, public_only=public_only)


def _ttl(crawl: Crawl, place: Placement, now: float) -> float | None:
    """Seconds from now after which a new page is not requested any more."""
    ttl = crawl.chosen.page_ttl if place.ttl is None else place.ttl
    return ttl if ttl is None or place.not_before is None else ttl + place.not_before - now


Places = Mapping[int, Placement]
"""Page -> the place it gets."""


def _move(
    crawl: Crawl,
    pages: Sequence[OpenPage],
    places: Places,
    change: CounterChange,
    now: float,
    handed_out: HandedOut,
) -> None:
    """Update open pages with the given time and priority; the rest is unchanged. With a time, the time to live
    begins anew."""
    _set_times(crawl, {page.id: max(now, page.not_before or 0.0) for page in pages}, places, now)
    named = [page for page in pages if places[page.id].priority is not None]
    out = handed_out(named) if named else set()
    _set_priorities(crawl, [page.id for page in named if page.id not in out], places)
    change.priorities.update(_priorities(places[page.id] for page in named))


def _set_times(crawl: Crawl, begins: Mapping[int, float], places: Places, now: float) -> None:
    """Set the times and times to live of open pages. `begins`: page -> when its time to live begins unless a time is
    named, in epoch seconds: when it may be requested. Each page may have other values, so it is no single UPDATE."""
    timed, lasting = list[dict[str, Any]](), list[dict[str, Any]]()
    round_began = _round_began(crawl, now)
    for page, begin in begins.items():
        place = places[page]
        if place.not_before is not None:
            timed.append({"id": page, "due": place.not_before, "expires": _expiry(crawl, now, place)})
        elif place.ttl is not None:
            lasting.append({"id": page, "expires": expiry(crawl.chosen, round_began, begin, place.ttl)})
    sql.set_times(timed)
    sql.set_expiry(lasting)


def _set_priorities(crawl: Crawl, ids: Iterable[int], places: Places) -> None:
    by_priority: dict[int | None, list[int]] = {}
    for page in ids:
        by_priority.setdefault(places[page].priority, []).append(page)
    for priority, pages in by_priority.items():
        if priority is not None:
            queries.rows_of(crawl.id, pages).update(priority=priority)


def _priorities(places: Iterable[Placement]) -> set[int]:
    return {place.priority for place in places if place.priority is not None}


def _open_again(crawl: Crawl, ids: Sequence[int], places: Places, change: CounterChange, now: float) -> None:
    """Open these closed pages. What their last response said is deleted, but for its time: nothing is learnt about
    traps from a page's second response."""
    rows = queries.rows_of(crawl.id, ids)
    _count_reopened(rows, change)
    for table in (PageLinks, PageFacts):
        table.objects.filter(is_among("page_id", ids))._raw_delete(table.objects.db)
    page_rows.delete(crawl.id, ids, of_results_only=True)
    change.priorities.update(rows.order_by().values_list("priority", flat=True).distinct())
    change.priorities.update(_priorities(places[page] for page in ids))
    rows.update(
        **_as_new(_expiry(crawl, now), now),
        not_before=None,
        error="",
        content_type="",
        title="",
        redirect_to="",
        bytes=0,
        elapsed_ms=0,
        directives="",
        not_followed=0,
        reused=False,
    )
    _set_times(crawl, dict.fromkeys(ids, now), places, now)
    _set_priorities(crawl, ids, places)
    if crawl.chosen.max_depth is not None:  # one that the limit cut off counts as found within it
        rows.filter(depth__gt=crawl.chosen.max_depth).update(depth=crawl.chosen.max_depth)
    change.retries += len(ids)


def _as_new(expires_at: float | None, now: float) -> dict[str, Any]:
    """The columns of a closed page that is opened again."""
    return {
        "status": Page.OPEN,
        "outcome": "",
        "closed_by": None,
        "http_status": None,
        "given_up": False,
        "given_up_at": 0,
        "attempts": 0,
        "deaths": 0,
        "died_with": "",
        "lane_reason": "",
        "due_at": 0.0,
        "due_since": now,
        "put_off": None,
        "expires_at": expires_at,
    }


def _count_reopened(pages: QuerySet[Page], change: CounterChange) -> None:
    groups = pages.order_by().values_list("outcome", "http_status", "closed_by").annotate(number=Count("id"))
    for outcome, http_status, limit, number in list(groups):
        change.count_reopened(outcome, http_status, number, limit)


def _may_open(page: Page) -> bool:
    return page.outcome not in NOT_AGAIN


def _expiry(crawl: Crawl, now: float, place: Placement | None = None) -> float | None:
    """Epoch seconds when pages that are opened now expire; the time to live begins when they may be requested."""
    begins = max(now, place.not_before or 0.0) if place is not None else now
    return expiry(crawl.chosen, _round_began(crawl, now), begins, place.ttl if place is not None else None)


def _round_began(crawl: Crawl, now: float) -> float:
    return now if crawl.is_over else crawl.round_began_at.timestamp()  # a crawl that is over begins its next round


def _rows_of(crawl: UUID, keys: Iterable[bytes]) -> Iterator[Page]:
    """The pages with these keys: what decides about them, and what the ready queue knows of them."""
    fields = ("key", "status", "outcome", *queries.OPEN_PAGE_FIELDS)
    for part in chunks(list(keys)):
        yield from Page.objects.filter(crawl_id=crawl, key__in=part).only(*fields)


def _as_open(page: Page) -> OpenPage:
    return OpenPage(**{name: getattr(page, name) for name in queries.OPEN_PAGE_FIELDS})
