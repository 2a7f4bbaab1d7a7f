"""A part of the writer (see `crawler.storage.writer`): inserts the pages that a user adds, moves open ones in the
queue, and opens closed ones again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from crawler.core.crawl.completion import Limit, limit_that_closed
from crawler.core.crawl.outcomes import Outcome
from crawler.core.crawl.placement import Placement
from crawler.core.crawl.priorities import priority_of
from crawler.core.crawl.retries import expiry
from crawler.core.url_lists.entries import Entry
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, PageFacts, PageLinks, PageLoad
from crawler.storage import queries, sql
from crawler.storage.bulk import is_among
from crawler.storage.counters import CounterChange, change_of
from crawler.storage.queries import OpenPage

KEYS_PER_STATEMENT = 900  # SQLite's smallest limit is 999 values

NOT_AGAIN = (Outcome.TRAP, Outcome.EXTERNAL)
"""Outcomes of pages that are not opened again: a trap is released as a whole, and a recorded link is no page."""

HandedOut = Callable[[Sequence[OpenPage]], set[int]]
"""The ids of those pages that are handed out to a fetch job now."""

Meta = Mapping[str, Any]
"""Name -> value, of a line in a list."""

T = TypeVar("T")


@dataclass(frozen=True)
class Changed:
    """What happened to the pages that a user named."""

    added: int = 0  # inserted
    moved: tuple[OpenPage, ...] = ()  # open ones with another place in the queue, as they were before
    waiting: int = 0  # open ones that stay where they are
    again: tuple[int, ...] = ()  # ids of closed ones that are open again
    closed: tuple[str, ...] = ()  # URLs of those that stay closed


def add(
    crawl: UUID,
    urls: Sequence[str],
    place: Placement,
    now: float,
    *,
    again: bool,
    handed_out: HandedOut,
    meta: Mapping[str, Meta] | None = None,
) -> Changed:
    """Insert the pages with these URLs (normalised, each once), like start pages; give those that are open their new
    place, and open closed ones if they are wanted `again`. All in one transaction. `meta`: URL -> what is
    carried to the results of a new page.

    A page that is handed out keeps its priority: its entry in the ready queue is found by it.
    """
    with change_of(crawl, now) as (row, change):
        known = {bytes(page.key): page for page in _rows_of(crawl, map(key_of, urls))}
        new = [url for url in urls if key_of(url) not in known]
        change.discovered = _insert(row, new, place, change, now, meta or {})
        open_pages = [_as_open(page) for page in known.values() if page.status == Page.OPEN]
        is_moved = bool(open_pages) and place.is_given
        if is_moved:
            _move(row, open_pages, place, change, now, handed_out)
        closed = [page for page in known.values() if page.status == Page.CLOSED]
        wanted = [page.id for page in closed if again and _may_open(page)]
        if wanted:
            _open_again(row, wanted, place, change, now)
    return Changed(
        added=change.discovered,
        moved=tuple(open_pages) if is_moved else (),
        waiting=0 if is_moved else len(open_pages),
        again=tuple(wanted),
        closed=tuple(page.url for page in closed if page.id not in set(wanted)),
    )


def open_again(crawl: UUID, ids: Sequence[int], place: Placement, now: float) -> Sequence[int]:
    """Open the closed ones of these pages again, as if they had never been requested; returns their ids. Requests that
    were made stay counted."""
    with change_of(crawl, now) as (row, change):
        pages = Page.objects.filter(is_among("id", ids), crawl_id=crawl, status=Page.CLOSED)
        wanted = list(pages.exclude(outcome__in=NOT_AGAIN).order_by("id").values_list("id", flat=True))
        if wanted:
            _open_again(row, wanted, place, change, now)
    return wanted


def close_all(crawl: UUID, ids: Sequence[int], outcome: Outcome, error: str, now: float) -> None:
    """Close the open ones of these pages without a request."""
    with change_of(crawl, now) as (_, change):
        pages = Page.objects.filter(is_among("id", ids), crawl_id=crawl, status=Page.OPEN)
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
        _count_reopened(row, pages, change)
        reopened = pages.update(**_as_new(_expiry(row, now), 0.0, now), fetched_at=None)
        change.retries += reopened
        return reopened


def _insert(
    crawl: Crawl,
    urls: Sequence[str],
    place: Placement,
    change: CounterChange,
    now: float,
    meta: Mapping[str, Meta],
) -> int:
    """Insert these pages, whose keys are new; returns how many."""
    if not urls:
        return 0
    priorities = [priority_of(url, place.priority, crawl.chosen.priorities) for url in urls]
    ttl = crawl.chosen.page_ttl if place.ttl is None else place.ttl
    if ttl is not None and place.not_before is not None:
        ttl += place.not_before - now
    entries = [Entry(0, url, ttl=ttl, not_before=place.not_before, meta=meta.get(url)) for url in urls]
    change.priorities.update(priorities)
    return sql.insert_listed(crawl, entries, priorities, now)


def _move(
    crawl: Crawl,
    pages: Sequence[OpenPage],
    place: Placement,
    change: CounterChange,
    now: float,
    handed_out: HandedOut,
) -> None:
    """Give open pages the time and priority that are named; what is not named stays. With a time, the time to live
    begins anew."""
    rows = Page.objects.filter(is_among("id", [page.id for page in pages]), crawl_id=crawl.id)
    if place.not_before is not None:
        expires_at = _expiry(crawl, now, place)
        due = {"due_at": place.not_before, "due_since": place.not_before, "not_before": place.not_before}
        rows.update(**due, put_off=None, expires_at=expires_at)
    elif place.ttl is not None:
        for begins, ids in _by_begin(pages, now).items():
            expires_at = expiry(crawl.chosen, _round_began(crawl, now), begins, place.ttl)
            Page.objects.filter(is_among("id", ids), crawl_id=crawl.id).update(expires_at=expires_at)
    if place.priority is not None:
        out = handed_out(pages)
        waiting = [page.id for page in pages if page.id not in out]
        Page.objects.filter(is_among("id", waiting), crawl_id=crawl.id).update(priority=place.priority)
        change.priorities.add(place.priority)


def _by_begin(pages: Sequence[OpenPage], now: float) -> Mapping[float, list[int]]:
    """When the time to live of these pages begins, in epoch seconds: when they may be requested."""
    found: dict[float, list[int]] = {}
    for page in pages:
        found.setdefault(max(now, page.not_before or 0.0), []).append(page.id)
    return found


def _open_again(crawl: Crawl, ids: Sequence[int], place: Placement, change: CounterChange, now: float) -> None:
    """Open these closed pages. What their last response said is deleted, but for its time: nothing is learnt about
    traps from a page's second response."""
    rows = Page.objects.filter(is_among("id", ids), crawl_id=crawl.id)
    _count_reopened(crawl, rows, change)
    for table in (PageLinks, PageFacts, PageLoad):
        table.objects.filter(is_among("page_id", ids))._raw_delete(table.objects.db)
    chosen: dict[str, Any] = {} if place.priority is None else {"priority": place.priority}
    change.priorities.update(rows.order_by().values_list("priority", flat=True).distinct())
    change.priorities.update(chosen.values())
    rows.update(
        **_as_new(_expiry(crawl, now, place), place.not_before or 0.0, now),
        **chosen,
        not_before=place.not_before,
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
    if crawl.chosen.max_depth is not None:  # one that the limit cut off counts as found within it
        rows.filter(depth__gt=crawl.chosen.max_depth).update(depth=crawl.chosen.max_depth)
    change.retries += len(ids)


def _as_new(expires_at: float | None, due_at: float, now: float) -> dict[str, Any]:
    """The columns of a closed page that is opened again."""
    return {
        "status": Page.OPEN,
        "outcome": "",
        "http_status": None,
        "given_up": False,
        "given_up_at": 0,
        "attempts": 0,
        "deaths": 0,
        "died_with": "",
        "rendering": "",
        "due_at": due_at,
        "due_since": max(now, due_at),
        "put_off": None,
        "expires_at": expires_at,
    }


def _count_reopened(crawl: Crawl, pages: QuerySet[Page], change: CounterChange) -> None:
    groups = pages.order_by().values_list("outcome", "http_status").annotate(number=Count("id"))
    for outcome, http_status, number in list(groups):
        change.count_reopened(outcome, http_status, number)
        if outcome == Outcome.EXPIRED:
            change.limits.subtract(_expired_by(crawl.limits, number))
    limited = pages.filter(outcome=Outcome.LIMIT).order_by().values_list("error").annotate(number=Count("id"))
    for error, number in list(limited):
        change.limits[limit_that_closed(error)] -= number


def _expired_by(limits: Mapping[str, int], number: int) -> Counter[str]:
    """The limits that these expired pages are counted under. A row does not say which it was; the deadline of an
    earlier round comes first."""
    by_deadline = min(number, limits.get(Limit.DEADLINE, 0))
    return Counter({Limit.DEADLINE.value: by_deadline, Limit.PAGE_TTL.value: number - by_deadline})


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
    for part in _chunks(list(keys), KEYS_PER_STATEMENT):
        yield from Page.objects.filter(crawl_id=crawl, key__in=part).only(*fields)


def _as_open(page: Page) -> OpenPage:
    return OpenPage(**{name: getattr(page, name) for name in queries.OPEN_PAGE_FIELDS})


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[at : at + size] for at in range(0, len(items), size))
