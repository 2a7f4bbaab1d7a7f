"""The only writer of page rows.

Every change is conditional on the row's status, and the number of rows that really changed is what moves the crawl's
counters (rule R2), in the same transaction. So repeating any of it changes nothing. Each transaction begins by locking
the crawl's row: whatever ends a crawl or opens it again comes before it or after it, never in its middle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Count, F, QuerySet

from crawler import quarantine, statements, table, usage
from crawler.core.deadlines import expiry
from crawler.core.discovery import Discovery
from crawler.core.lists import Entry
from crawler.core.outcomes import Kind, Outcome
from crawler.core.progress import with_sample
from crawler.core.recent import with_closed
from crawler.core.tallies import Tallies
from crawler.core.urls import key_of
from crawler.core.work import PageResult
from crawler.crashpoints import crash_point
from crawler.models import Crawl, Page, PageFacts, PageLinks, Trap

ASKED = frozenset({Kind.FETCHED, Kind.FAILED})
"""The heaps of pages that were asked for."""

MOVED = ("discovered", "outcomes", "statuses", "requests", "bytes", "retries", "samples", "priorities", "recent")
"""What a transaction moves on the crawl's row."""
OnClosed = Callable[[Crawl, Collection[int]], None]
"""Is told which pages of a crawl were closed, in the transaction that closes them."""


@dataclass(frozen=True)
class Retry:
    """A page that will be asked for again."""

    result: PageResult
    due_at: float  # epoch seconds


@dataclass(frozen=True)
class Applied:
    """What came of applying results."""

    tallies: Tallies  # the crawl's, afterwards
    is_over: bool  # the crawl was over, so nothing was taken in
    left_out: Collection[bytes]  # keys of discoveries without a row: a trap has rows enough


@dataclass
class _Change:
    """What one transaction did to the counters."""

    discovered: int = 0
    requests: int = 0
    bytes: int = 0
    retries: int = 0
    asked: int = 0  # pages that were closed and had been asked for: what an owner's pages of the day count

    def __post_init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.priorities: set[int] = set()  # of the pages that were opened
        self.answered: list[PageResult] = []  # those that closed pages, in the order they came in

    def count_closed(self, outcome: Outcome, pages: int = 1, http_status: int | None = None) -> None:
        self.outcomes[outcome.value] += pages
        if outcome.kind in ASKED:
            self.asked += pages
        if http_status is not None:
            self.statuses[str(http_status)] += pages

    def count_reopened(self, outcome: str, http_status: int | None, pages: int) -> None:
        self.outcomes[outcome] -= pages
        if http_status is not None:
            self.statuses[str(http_status)] -= pages


@contextmanager
def _change_of(crawl: UUID, now: float) -> Iterator[tuple[Crawl, _Change]]:
    """One transaction, alone at the crawl's rows; at its end the crawl's counters move by what it changed."""
    with transaction.atomic():
        row, change = Crawl.objects.select_for_update().get(id=crawl), _Change()
        yield row, change
        _move_counters(row, change, now)


def open_start_pages(crawl: Crawl, urls: Sequence[str], now: float, sitemaps: Iterable[Discovery] = ()) -> None:
    """Insert the start pages and sitemaps of a crawl whose row is inserted in the same transaction."""
    with _change_of(crawl.id, now) as (row, change):
        _insert(row, [*(Discovery(url, 0, 0, None) for url in urls), *sitemaps], change, now)


def open_listed_pages(crawl: UUID, entries: Sequence[Entry], now: float) -> int:
    """Insert the pages that a part of a list names, as start pages are; how many of them were new."""
    with _change_of(crawl, now) as (row, change):
        expires_at = expiry(row.chosen, row.round_began_at.timestamp(), now)
        change.discovered = statements.insert_listed(crawl, entries, expires_at)
        change.priorities = {entry.priority for entry in entries}
        return change.discovered


def apply(
    crawl: UUID,
    closings: Iterable[PageResult],
    retries: Sequence[Retry],
    found: Sequence[Discovery],
    now: float,
    requests: int = 0,
    on_closed: OnClosed | None = None,
) -> Applied:
    """Close pages, note retries and insert discoveries, all or nothing.

    A page that is closed already stays as it is. Duplicate discoveries are refused by the table's unique key. A crawl
    that is over takes nothing in. `requests` are those that belong to none of the pages. `on_closed` is told what was
    closed, in the same transaction.
    """
    judged = quarantine.Judged(())
    with _change_of(crawl, now) as (row, change):
        if not row.is_over:
            change.requests += requests
            closed = _close(crawl, closings, change)
            if on_closed is not None and closed:
                on_closed(row, closed)
            _note_retries(crawl, retries, change)
            if row.chosen.max_depth is not None:
                _lower([page for page in found if page.hops], row.id, change)
            judged = quarantine.sort_out(row, found, closed)
            _insert(row, judged.pages, change, now)
        crash_point("collect: rows changed")
    return Applied(row.tallies, row.is_over, judged.left_out)


def count_lost_attempts(
    crawl: UUID,
    ids: Sequence[int],
    token: str,
    now: float,
    *,
    blamed_from: int | None,
    on_closed: OnClosed | None = None,
) -> list[int]:
    """A worker died with these pages in hand: count the attempt and the death, once a lease (`token`).

    With `blamed_from` a page that has been tried so often is closed as crashed; without it nobody is to blame, because
    the page was not alone. Answers the pages that were closed; `on_closed` as for `apply`.
    """
    with _change_of(crawl, now) as (row, change):
        pages = Page.objects.filter(id__in=table.still_open(crawl, ids), status=Page.OPEN)
        change.retries += pages.exclude(died_with=token).update(
            attempts=F("attempts") + 1, deaths=F("deaths") + 1, died_with=token
        )
        if blamed_from is None:
            return []
        blamed = list(pages.filter(attempts__gte=blamed_from).values_list("id", "attempts"))
        for page, attempts in blamed:
            error = f"the worker died {attempts} times while it had this page in hand"
            _close_all(Page.objects.filter(id=page), Outcome.CRASHED, error, change)
        if on_closed is not None and blamed:
            on_closed(row, [page for page, _ in blamed])
        return [page for page, _ in blamed]


def close_rest(crawl: UUID, outcome: Outcome, error: str, now: float) -> int:
    """Close every page that is still open, without asking for it; how many there were."""
    with _change_of(crawl, now) as (_, change):
        _close_all(Page.objects.filter(crawl_id=crawl, status=Page.OPEN), outcome, error, change)
        return change.outcomes[outcome.value]


def close_expired(crawl: UUID, now: float) -> int:
    """Close every open page whose time is over; how many there were."""
    expired = Page.objects.filter(crawl_id=crawl, status=Page.OPEN, expires_at__lte=now)
    if not expired.exists():
        return 0
    with _change_of(crawl, now) as (_, change):
        _close_all(expired, Outcome.EXPIRED, "its time was over before it had an answer", change)
        return change.outcomes[Outcome.EXPIRED.value]


def reopen(crawl: UUID, ids: Sequence[int] | None, now: float) -> int:
    """Open dead letters again (all of them, or those among `ids`), as if they had never been asked for; how many."""
    with _change_of(crawl, now) as (row, change):
        pages = Page.objects.filter(crawl_id=crawl, status=Page.CLOSED, given_up=True)
        if ids is not None:
            pages = pages.filter(id__in=list(ids))
        groups = pages.order_by().values_list("outcome", "http_status").annotate(number=Count("id"))
        for outcome, http_status, number in list(groups):
            change.count_reopened(outcome, http_status, number)
        began = now if row.is_over else row.round_began_at.timestamp()
        reopened = pages.update(
            status=Page.OPEN,
            outcome="",
            http_status=None,
            given_up=False,
            attempts=0,
            deaths=0,
            due_at=0,
            expires_at=expiry(row.chosen, began, now),
            fetched_at=None,
        )
        change.retries += reopened
        return reopened


def release(crawl: UUID, traps: QuerySet[Trap], now: float) -> tuple[int, int]:
    """Release traps of a crawl and open the pages in their quarantine; how many traps and pages there were."""
    with _change_of(crawl, now) as (row, change):
        pages = quarantine.quarantined(traps)
        change.priorities.update(pages.order_by().values_list("priority", flat=True).distinct())
        began = now if row.is_over else row.round_began_at.timestamp()
        opened = pages.order_by().update(
            status=Page.OPEN, outcome="", error="", trap_id=None, due_at=0, expires_at=expiry(row.chosen, began, now)
        )
        change.count_reopened(Outcome.TRAP, None, opened)
        return quarantine.release(traps), opened


def delete_rows(crawl: UUID, at_most: int) -> int:
    """Delete some pages of a crawl that is being deleted; how many. Others can write in between."""
    doomed = list(Page.objects.filter(crawl_id=crawl).values_list("id", flat=True)[:at_most])
    PageLinks.objects.filter(page_id__in=doomed)._raw_delete(PageLinks.objects.db)
    PageFacts.objects.filter(page_id__in=doomed)._raw_delete(PageFacts.objects.db)
    Page.objects.filter(id__in=doomed)._raw_delete(Page.objects.db)  # nothing refers to a page row
    return len(doomed)


def _close(crawl: UUID, results: Iterable[PageResult], change: _Change) -> set[int]:
    """Close those of these pages that are open; which they are. The others were closed before: by the same report read
    twice, or by another worker's.

    The crawl's row is locked, so what is open now stays so until all are closed: one question and one statement for
    all of them. Should the statement change another number of rows, nothing of this happens.
    """
    of_page: dict[int, PageResult] = {}
    for result in results:
        of_page.setdefault(result.id, result)
    closed = table.still_open(crawl, of_page)
    for page in closed:
        result = of_page[page]
        change.count_closed(result.outcome, http_status=result.http_status)
        change.requests += result.requests
        change.bytes += result.bytes
    if closed:
        changed = statements.close_rows(of_page[page] for page in sorted(closed))
        if changed != len(closed):
            raise DatabaseError(f"{changed} of {len(closed)} open pages could be closed")
        statements.keep_links(crawl, (of_page[page] for page in closed))
        statements.keep_facts(crawl, (of_page[page] for page in closed))
        change.answered += [result for page, result in of_page.items() if page in closed]
    return closed


def _lower(redirected: Iterable[Discovery], crawl: UUID, change: _Change) -> None:
    """A redirect's target stands where the redirect does. If it was found by a link first, one level deeper, it moves
    up: so the depth limit cuts off the same pages whatever order the answers arrive in. What was cut off is opened."""
    for page in redirected:
        deeper = Page.objects.filter(crawl_id=crawl, key=key_of(page.url), depth__gt=page.depth)
        deeper.filter(status=Page.OPEN).update(depth=page.depth)
        opened = deeper.filter(status=Page.CLOSED, outcome=Outcome.LIMIT).update(
            status=Page.OPEN, outcome="", error="", depth=page.depth
        )
        change.count_reopened(Outcome.LIMIT, None, opened)


def _note_retries(crawl: UUID, retries: Sequence[Retry], change: _Change) -> None:
    """Note those that are news: the others were noted before, or their page was closed meanwhile. As in `_close`
    nothing can change between the question and the statement."""
    if not retries:
        return
    tried = {
        page.id: page.attempts for page in table.open_pages(crawl, [retry.result.id for retry in retries]).values()
    }
    news = dict[int, Retry]()
    for retry in retries:
        result = retry.result
        if result.attempt > tried.get(result.id, result.attempt):
            tried[result.id] = result.attempt
            news[result.id] = retry
            change.retries += 1
            change.requests += result.requests
            change.bytes += result.bytes
    statements.note_attempts((retry.result, retry.due_at) for retry in news.values())


def _close_all(pages: QuerySet[Page], outcome: Outcome, error: str, change: _Change) -> None:
    given_up = outcome.kind is Kind.FAILED
    closed = pages.filter(status=Page.OPEN).update(
        status=Page.CLOSED, outcome=outcome.value, error=error, given_up=given_up
    )
    if closed:
        change.count_closed(outcome, closed)


def _insert(crawl: Crawl, found: Iterable[Discovery], change: _Change, now: float) -> None:
    """Insert pages whose key is new; those that stay open come first, so that a page that is found in both ways
    at once is asked for."""
    expires_at = expiry(crawl.chosen, crawl.round_began_at.timestamp(), now)
    by_outcome: dict[Outcome | None, list[Discovery]] = {None: []}
    for page in found:
        by_outcome.setdefault(page.outcome, []).append(page)
    for outcome, pages in by_outcome.items():
        inserted = statements.insert(crawl, pages, expires_at)
        if outcome is Outcome.EXTERNAL or not inserted:
            continue
        change.discovered += inserted
        if outcome is None:
            change.priorities.update(page.priority for page in pages)
        else:
            change.count_closed(outcome, inserted)


def _move_counters(crawl: Crawl, change: _Change, now: float) -> None:
    """Add what this transaction did to the crawl's row, which is locked until it ends."""
    tallies = crawl.tallies.plus(discovered=change.discovered, outcomes=change.outcomes, statuses=change.statuses)
    crawl.discovered, crawl.outcomes, crawl.statuses = tallies.discovered, tallies.outcomes, tallies.statuses
    crawl.requests += change.requests
    crawl.bytes += change.bytes
    crawl.retries += change.retries
    crawl.samples = with_sample(crawl.samples, now, tallies.discovered, tallies.closed)
    crawl.priorities = sorted(change.priorities.union(crawl.priorities), reverse=True)
    crawl.recent = with_closed(crawl.recent, change.answered)
    crawl.save(update_fields=MOVED)
    if change.asked and crawl.owner_id is not None:
        usage.add(crawl.owner_id, change.asked, now)
