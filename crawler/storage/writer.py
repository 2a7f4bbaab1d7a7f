"""The only writer of page rows.

Every change is conditional on the row's status, and the crawl's counters change by the number of changed rows (rule
R2), in the same transaction, so every change is idempotent. Each transaction begins by locking the
crawl's row: a transaction that ends or reopens a crawl runs before it or after it, never in between.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter
from uuid import UUID

import msgspec
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from msgspec.structs import replace

from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.pages.outcomes import of_status as outcome_of
from crawler.core.politeness.priorities import priority_of
from crawler.core.protocol.completion import Limit, limit_of_time
from crawler.core.protocol.counters import Tallies
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import SITEMAP, PageResult
from crawler.core.protocol.retries import expiry, is_dead_letter
from crawler.core.url_lists.entries import Entry
from crawler.core.urls.normalise import key_of
from crawler.crashpoints import crash_point
from crawler.models import Crawl, Page, PageFacts, PageLinks, Trap
from crawler.storage import page_rows, quarantine, queries, sql
from crawler.storage.bulk import POSTGRESQL, chunks, is_among
from crawler.storage.counters import CounterChange, change_of
from crawler.storage.quarantine import Quarantine

OnClosed = Callable[[Crawl, Collection[int]], None]
"""Called with the pages of a crawl that were closed, in the transaction that closes them."""


class Retry(msgspec.Struct, frozen=True):
    """A page that will be fetched again."""

    result: PageResult
    due_at: float  # epoch seconds
    put_off: int | None = None  # status of the response that asked for this wait


class ApplyResult(msgspec.Struct, frozen=True):
    """The result of `apply`."""

    tallies: Tallies  # the crawl's, afterwards
    is_over: bool  # the crawl was over, so nothing was changed
    left_out: Collection[bytes]  # keys of discoveries without a row: their trap has enough
    may_have_reopened: bool  # pages that were closed or in quarantine


def open_start_pages(crawl: Crawl, urls: Sequence[str], now: float, sitemaps: Iterable[Discovery] = ()) -> None:
    """Insert the start pages and sitemaps of a crawl whose row is inserted in the same transaction."""
    with change_of(crawl.id, now) as (row, change):
        _insert(row, [*(Discovery(url, 0, 0, None) for url in urls), *sitemaps], change, now)


def open_listed_pages(crawl: UUID, entries: Sequence[Entry], now: float) -> int:
    """Insert the pages of a chunk of a list, like start pages; returns how many were new."""
    with change_of(crawl, now) as (row, change):
        rules = row.chosen.priorities
        priorities = [priority_of(entry.url, entry.priority, rules) for entry in entries]
        change.discovered = sql.insert_listed(row, entries, priorities, now)
        change.priorities = set(priorities)
        return change.discovered


def apply(
    crawl: UUID,
    closings: Iterable[PageResult],
    retries: Sequence[Retry],
    found: Sequence[Discovery],
    now: float,
    requests: int = 0,
    on_closed: OnClosed | None = None,
    on_reopened: Callable[[], object] | None = None,
    lane_moves: Sequence[PageResult] = (),
) -> ApplyResult:
    """Close pages, note retries and pages that are to take a slot lane (`lane_moves`), and insert discoveries, all or
    nothing.

    A closed page does not change, the unique key refuses duplicate discoveries, and nothing changes in a crawl that is
    over. `requests` are those that belong to no page. `on_closed` is called with the closed pages in the same
    transaction, `on_reopened` when pages in quarantine are opened again.
    """
    judged, may_have_reopened = quarantine.TrapDecision(()), False
    with change_of(crawl, now) as (row, change):
        if not row.is_over:
            change.requests += requests
            closed = _close(crawl, closings, change, now)
            if on_closed is not None and closed:
                on_closed(row, closed)
            _note_retries(crawl, retries, change)
            _note_lane_moves(crawl, lane_moves, change)
            redirected = [page for page in found if page.hops] if row.chosen.max_depth is not None else []
            _move_up_redirect_targets(redirected, row, change)
            judged = quarantine.sort_out(row, found, change.new_results)
            page_rows.store(crawl, sorted(change.results, key=attrgetter("id")), judged.pages)
            _insert(row, judged.pages, change, now)
            _set_aside(judged.set_aside, change)
            for ids in chunks(judged.reopened):
                _open_trapped(row, Page.objects.filter(id__in=ids), change, now)
            if judged.reopened and on_reopened is not None:
                on_reopened()
            may_have_reopened = bool(judged.reopened or redirected)
        crash_point("collect: rows changed")
    return ApplyResult(row.tallies, row.is_over, judged.left_out, may_have_reopened)


def close_rest(crawl: UUID, outcome: Outcome, error: str, now: float, limit: Limit | None = None) -> int:
    """Close every open page without fetching it; returns how many. `limit` is the limit that was reached."""
    with change_of(crawl, now) as (_, change):
        close_pages(Page.objects.filter(crawl_id=crawl, status=Page.OPEN), outcome, error, change, now, limit)
        return change.outcomes[outcome.value]


def close_expired(crawl: UUID, now: float) -> int:
    """Close every open page that has expired; returns how many."""
    expired = Page.objects.filter(crawl_id=crawl, status=Page.OPEN, expires_at__lte=now)
    if not expired.exists():
        return 0
    with change_of(crawl, now) as (row, change):
        limit = limit_of_time(row.chosen, row.round_began_at.timestamp(), now)
        close_pages(expired, Outcome.EXPIRED, "it expired before it was fetched", change, now, limit)
        return change.outcomes[Outcome.EXPIRED.value]


def close_postponed(crawl: UUID, now: float, on_closed: OnClosed | None = None) -> list[int]:
    """Close every open page with a Retry-After later than `now`, with that response; returns their ids."""
    with change_of(crawl, now) as (row, change):
        rows = list(Page.objects.filter(queries.postponed(crawl, now)).values_list("id", "put_off"))
        for status in {status for _, status in rows if status is not None}:
            closed = Page.objects.filter(queries.postponed(crawl, now), put_off=status).update(
                status=Page.CLOSED,
                outcome=outcome_of(status).value,
                http_status=status,
                error=f"the server returned {status} and asked for a longer wait than the rest of the crawl took",
                given_up=True,
                given_up_at=now,
            )
            change.count_closed(outcome_of(status), closed, status)
            change.dead_letters += closed
        if on_closed is not None and rows:
            on_closed(row, [page for page, _ in rows])
        return [page for page, _ in rows]


def release(crawl: UUID, traps: QuerySet[Trap], now: float) -> tuple[int, int]:
    """Release traps of a crawl and open the pages in their quarantine; returns the numbers of traps and pages."""
    with change_of(crawl, now) as (row, change):
        opened = _open_trapped(row, quarantine.quarantined(traps), change, now)
        return quarantine.release(traps), opened


def delete_rows(crawl: UUID, after: int, at_most: int) -> int | None:
    """Delete some pages of a crawl that is being deleted, in the order of their ids, from behind page `after`; returns
    the last of them, or None if there were none. Others can write in between.

    PostgreSQL keeps deleted rows until they are vacuumed: without `after` each call would read the rows of all earlier
    ones.
    """
    page_ids = list(queries.all_rows(crawl).filter(id__gt=after).values_list("id", flat=True)[:at_most])
    if not page_ids:
        return None
    with transaction.atomic():
        PageLinks.objects.filter(is_among("page_id", page_ids))._raw_delete(PageLinks.objects.db)
        PageFacts.objects.filter(is_among("page_id", page_ids))._raw_delete(PageFacts.objects.db)
        page_rows.delete(crawl, page_ids)
        Page.objects.filter(is_among("id", page_ids))._raw_delete(Page.objects.db)  # nothing refers to a page row
    return page_ids[-1]


def delete_crawl(crawl: UUID) -> None:
    """Delete the row of a crawl whose pages are deleted, and what else belongs to it.

    PostgreSQL looks for further pages of it, and until ANALYZE runs it expects as many as there were: it would read the
    tables from beginning to end, with the pages of all crawls.
    """
    with transaction.atomic():
        if connection.vendor == POSTGRESQL:
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")
        Crawl.objects.filter(id=crawl).delete()


def _close(crawl: UUID, results: Iterable[PageResult], change: CounterChange, now: float) -> set[int]:
    """Close the open ones of these pages; returns their ids. The others were closed by the same result read twice, or
    by that of another worker.

    The crawl's row is locked, so no other process closes them between the query and the statement. When the statement
    changes another number of rows, the transaction is rolled back.
    """
    of_page: dict[int, PageResult] = {}
    for result in results:
        of_page.setdefault(result.id, result)
    urls = queries.open_with_new_urls(crawl, of_page)
    closed = set(urls)
    for page in closed:
        result = of_page[page]
        change.count_closed(result.outcome, http_status=result.http_status)
        change.count_requests(result)
        change.dead_letters += is_dead_letter(result)
    if closed:
        changed = sql.close_rows((of_page[page] for page in sorted(closed)), now)
        if changed != len(closed):
            raise DatabaseError(f"{changed} of {len(closed)} open pages could be closed")
        sql.store_links(crawl, (of_page[page] for page in closed))
        sql.store_facts(crawl, (of_page[page] for page in closed))
        change.results += [result for page, result in of_page.items() if page in closed]
        change.new_urls.update((page, url) for page, url in urls.items() if url is not None)
    return closed


def _move_up_redirect_targets(redirected: Iterable[Discovery], crawl: Crawl, change: CounterChange) -> None:
    """A redirect's target has the depth of the redirect. If a deeper link found it first, it moves up and is opened
    when the depth limit had closed it, so that the limit does not depend on the order of responses."""
    for page in redirected:
        deeper = Page.objects.filter(crawl_id=crawl.id, key=key_of(page.url), depth__gt=page.depth)
        deeper.filter(status=Page.OPEN).update(depth=page.depth)
        for cut_off in deeper.filter(status=Page.CLOSED, outcome=Outcome.LIMIT).only("closed_by"):
            opened = {"status": Page.OPEN, "outcome": "", "closed_by": None, "error": "", "depth": page.depth}
            deeper.filter(id=cut_off.id).update(**opened)
            change.count_reopened(Outcome.LIMIT, None, 1, cut_off.closed_by)


def _note_retries(crawl: UUID, retries: Sequence[Retry], change: CounterChange) -> None:
    """Store the attempts that are new: the others are stored already, or their page is closed. As in `_close` nothing
    changes between the query and the statement."""
    if not retries:
        return
    tried = {
        page.id: page.attempts for page in queries.open_pages(crawl, [retry.result.id for retry in retries]).values()
    }
    news = dict[int, Retry]()
    for retry in retries:
        result = retry.result
        if result.attempt > tried.get(result.id, result.attempt):
            tried[result.id] = result.attempt
            news[result.id] = retry
            change.retries += 1
            change.count_requests(result)
    sql.note_attempts((retry.result, retry.due_at, retry.put_off) for retry in news.values())


def _note_lane_moves(crawl: UUID, moves: Sequence[PageResult], change: CounterChange) -> None:
    """Note which open pages are to take a slot lane, with the requests made for them; those noted already are left out.
    As in `_close` nothing changes between the query and the statement."""
    if not moves:
        return
    known = queries.open_pages(crawl, [result.id for result in moves])
    news = {result.id: result for result in moves if result.id in known and not known[result.id].lane_reason}
    for result in news.values():
        change.count_requests(result)
    sql.note_lane_reasons(news.values())


def _set_aside(quarantines: Iterable[Quarantine], change: CounterChange) -> None:
    """Close the open pages of traps that this transaction has found."""
    for each in quarantines:
        for ids in chunks(each.pages):
            still_open = Page.objects.filter(id__in=ids, status=Page.OPEN)
            closed = still_open.update(status=Page.CLOSED, outcome=Outcome.TRAP, error=each.error, trap_id=each.trap_id)
            change.count_closed(Outcome.TRAP, closed)


def _open_trapped(crawl: Crawl, pages: QuerySet[Page], change: CounterChange, now: float) -> int:
    """Open pages in quarantine; returns how many."""
    pages = pages.filter(outcome=Outcome.TRAP).order_by()
    change.priorities.update(pages.values_list("priority", flat=True).distinct())
    began = now if crawl.is_over else crawl.round_began_at.timestamp()
    opened = pages.update(
        status=Page.OPEN,
        outcome="",
        error="",
        trap_id=None,
        due_at=0,
        due_since=now,
        expires_at=expiry(crawl.chosen, began, now),
    )
    change.count_reopened(Outcome.TRAP, None, opened)
    return opened


def close_pages(
    pages: QuerySet[Page], outcome: Outcome, error: str, change: CounterChange, now: float, limit: Limit | None = None
) -> None:
    """Close the open ones of these pages without a result, for the transaction of `change`."""
    given_up = outcome.category is Category.FAILED
    closed = pages.filter(status=Page.OPEN).update(
        status=Page.CLOSED,
        outcome=outcome.value,
        closed_by=limit,
        error=error,
        given_up=given_up,
        given_up_at=now if given_up else 0,
    )
    if closed:
        change.count_closed(outcome, closed, limit=limit)
        change.dead_letters += closed if given_up else 0


def _insert(crawl: Crawl, found: Iterable[Discovery], change: CounterChange, now: float) -> None:
    """Insert pages whose key is new; open ones first, so that a page found both open and closed is requested."""
    expires_at = expiry(crawl.chosen, crawl.round_began_at.timestamp(), now)
    by_outcome: dict[tuple[Outcome | None, Limit | None], list[Discovery]] = {(None, None): []}
    rules = crawl.chosen.priorities
    for page in (replace(page, priority=priority_of(page.url, page.priority, rules)) for page in found):
        by_outcome.setdefault((page.outcome, _limit_of(page)), []).append(page)
    for (outcome, limit), pages in by_outcome.items():
        inserted = sql.insert(crawl, pages, limit, expires_at, now)
        if outcome is Outcome.EXTERNAL or not inserted:
            continue
        change.discovered += inserted
        if outcome is None:
            change.priorities.update(page.priority for page in pages if page.priority is not None)
        else:
            change.count_closed(outcome, inserted, limit=limit)


def _limit_of(page: Discovery) -> Limit | None:
    """The limit that closes a page when it is found."""
    if page.outcome is not Outcome.LIMIT:
        return None
    return Limit.SITEMAPS if page.kind == SITEMAP else Limit.DEPTH
