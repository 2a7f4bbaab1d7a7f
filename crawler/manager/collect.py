"""Step one of a tick: process the reports of fetch jobs. Read, commit, then acknowledge (rule R3)."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import msgspec
from django.db import DataError

from crawler import conf
from crawler.core.errors import NewerMessage
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol import retries
from crawler.core.protocol.discovery import (
    Discovery,
    Place,
    discoveries,
    with_not_followed,
    with_tidied_keys,
)
from crawler.core.protocol.lanes import chosen_slot_lanes
from crawler.core.protocol.messages import PageResult, SliceReport, decode_head, decode_report
from crawler.core.sitemaps.formats import followed, named_by_robots
from crawler.core.urls.crawl_scope import Scope
from crawler.crashpoints import crash_point
from crawler.manager.context import TickContext, queue_item, update_paces
from crawler.manager.limits import explained
from crawler.manager.reach import limited_among, note_discovery
from crawler.manager.response_cache import fill_in_unchanged, select_cacheable, store
from crawler.manager.restored import note_watermark
from crawler.notices.outbox import page_notifier
from crawler.storage import queries, writer
from crawler.storage.writer import Retry

log = logging.getLogger(__name__)

MAX_REPORTS_PER_READ = 256
RESULTS_PER_TRANSACTION = 256  # approximate; bounds the time and memory of a transaction
LINKS_PER_TRANSACTION = 20_000  # the same
SITEMAP_PAGES_PER_TRANSACTION = 5_000  # the same

REFUSED_VALUES = (DataError, OverflowError, UnicodeEncodeError)
"""What databases and their drivers raise for a value that a column cannot hold."""

BetweenTransactions = Callable[[], object]
"""Called between transactions so that the tick can renew its lock."""


def collect(context: TickContext, between: BetweenTransactions = lambda: None) -> int:
    """Process the oldest reports; returns their number. After a crash the same reports are processed again
    (idempotent)."""
    results = context.frontier.results
    oldest = results.read(MAX_REPORTS_PER_READ)
    if not oldest:
        return 0
    raw, reports = _decode_reports(oldest)
    done = [report for report in reports if report.done]
    counted = _still_leased(context, [report for report in done if report.requests])
    requests = sum(report.requests for report, _, _ in counted)
    process_results(context, [result for report in reports for result in report.results], requests, between)
    crash_point("collect: links remembered")
    _complete_slices(context, done)
    crash_point("collect: slices settled")
    results.acknowledge(raw)
    return len(raw)


def _decode_reports(oldest: Sequence[bytes]) -> tuple[list[bytes], list[SliceReport]]:
    """The oldest reports that fit into one transaction: raw, and decoded. What is no report is dropped and does not
    stop the crawl."""
    raw, reports = list[bytes](), list[SliceReport]()
    pages = links = 0
    for line in oldest:
        if pages >= RESULTS_PER_TRANSACTION or links >= LINKS_PER_TRANSACTION:
            break
        raw.append(line)
        try:
            reports.append(_decode(line))
        except msgspec.DecodeError:
            log.exception("a report of %s bytes cannot be read and is dropped", len(line))
            continue
        pages += len(reports[-1].results)
        links += sum(len(result.links) + len(result.entries) for result in reports[-1].results)
    return raw, reports


def _decode(line: bytes) -> SliceReport:
    """A report; one of a newer version without its results, whose pages then go back to the ready queue when their
    slice is complete: they are requested again, and no attempt is counted."""
    try:
        return decode_report(line)
    except NewerMessage as error:
        head = decode_head(line)
        log.warning(
            "results of %s are not understood, and their pages are requested again: %s",
            head.host,
            error,
            extra={"batch": head.batch},
        )
        return head


def _still_leased(
    context: TickContext, reports: Sequence[SliceReport]
) -> list[tuple[SliceReport, str, tuple[int, ...]]]:
    """The reports whose slice is still leased under their token, with its lane and page ids. The other slices were
    reclaimed, or completed by another tick."""
    leases = context.frontier.leases.read({report.batch for report in reports})
    found = []
    for report in reports:
        lease = leases.get(report.batch)
        part = lease.slices.get(report.slice) if lease is not None and lease.token == report.token else None
        if part is not None:
            found.append((report, *part))
    return found


def process_results(
    context: TickContext, results: Sequence[PageResult], requests: int = 0, between: BetweenTransactions = lambda: None
) -> None:
    """Store these results, in one transaction unless there are long sitemaps. If the database refuses a value, nothing
    was stored but pages of long sitemaps, which may be inserted again (rule R2): the results are stored by halves,
    until the one with this value is alone, whose page is closed as malformed. So it costs no other page its result, and
    the crawl does not stop at it."""
    try:
        _process_results(context, results, requests, between)
    except REFUSED_VALUES:
        match results:
            case []:
                raise
            case [result]:
                log.exception("the result of page %s cannot be stored", result.id)
                _process_results(context, [_unstorable(result)], requests, between)
            case _:
                half = len(results) // 2
                process_results(context, results[:half], requests, between)
                process_results(context, results[half:], 0, between)


def _unstorable(result: PageResult) -> PageResult:
    """The result that closes a page whose own result holds a value the database refuses."""
    return PageResult(
        id=result.id,
        attempt=result.attempt,
        outcome=Outcome.MALFORMED,
        requests=result.requests,
        fetched_at=result.fetched_at,
        error="the response holds a value that cannot be stored",
    )


def _process_results(
    context: TickContext, results: Sequence[PageResult], requests: int, between: BetweenTransactions
) -> None:
    """1. Fill in unchanged pages from the response cache. 2. Decide per result: retry or close. 3. Look up which links
    may be new. 4. Commit. 5. Only then add the links to the seen-set (rule R2b), failed pages to the dead letters, and
    responses to the cache. A long sitemap takes several commits; `between` is called after each but the last."""
    now = context.now()
    results, wasted_requests = fill_in_unchanged(context, results)
    results, lane_moves = _without_lane_moves(results)
    closed, retries_due = _split_results(results, now)
    scope = Scope.of(context.crawl.start_urls, context.options)
    closings = [with_tidied_keys(with_not_followed(result, context.options), scope) for result in closed]
    places = queries.places(context.id, [result.id for result in results])
    found = _discover(context, scope, closings, results, places)
    to_cache = select_cacheable(context, closings)
    new_keys = _possibly_new(context, found)
    new_keys = _insert_long_sitemaps(context, new_keys, found, now, between)
    new = [explained(found[key], context.options) for key in new_keys]
    on_closed = page_notifier(context.options, closings)
    rewind = context.frontier.ready_queue.rewind  # called before the commit: a crash behind it must not leave pages out
    requests += wasted_requests
    applied = writer.apply(context.id, closings, retries_due, new, now, requests, on_closed, rewind, lane_moves)
    crash_point("collect: committed")
    if applied.is_over:
        return  # cancelled meanwhile: the discovered pages are not in the table (rule R2b)
    if applied.may_have_reopened:
        rewind()  # again: meanwhile another collector's tick may have refilled the ready queue
    note_watermark(context, [key for key in new_keys if key not in applied.left_out])
    context.frontier.dead_letters.add([result.id for result in closings if retries.is_dead_letter(result)], now)
    store(context, to_cache)


def _without_lane_moves(results: Sequence[PageResult]) -> tuple[list[PageResult], list[PageResult]]:
    """The results, and those that only tell that a page is to take a slot lane: it stays open, and goes back to the
    ready queue when its slice is complete."""
    moves = [result for result in results if result.needs_lane]
    return ([result for result in results if not result.needs_lane] if moves else list(results)), moves


def _split_results(results: Iterable[PageResult], now: float) -> tuple[list[PageResult], list[Retry]]:
    closings: list[PageResult] = []
    again: list[Retry] = []
    for result in results:
        retry = retries.decide(result, conf.max_attempts(), random.random())  # noqa: S311 (jitter, not a secret)
        if retry is None:
            closings.append(result)
        else:
            again.append(Retry(result, now + retry.wait, retry.put_off))
    return closings, again


def _discover(
    context: TickContext,
    scope: Scope,
    closings: Sequence[PageResult],
    results: Sequence[PageResult],
    places: Mapping[int, Place],
) -> dict[bytes, Discovery]:
    """Fact -> discovery, without duplicates, for results whose page is still open and so has a place: the links of a
    closed page were stored when it was closed. Sitemaps named by robots.txt count whatever the page's outcome."""
    limited = limited_among(context, results, places)
    found = dict[bytes, Discovery]()
    for result in results:
        for sitemap in named_by_robots([result], scope):
            note_discovery(found, sitemap, public_only=result.id in limited)
    offered: dict[bool, set[str]] = {False: set(), True: set()}  # by whether it was a limited page
    for result in closings:
        place, is_limited = places.get(result.id), result.id in limited
        if place is None:
            continue
        links = discoveries(result, place, scope, context.options, offered[is_limited])
        for page in chain(links, followed(result, place, scope)):
            note_discovery(found, page, public_only=is_limited)
    return found


def _possibly_new(context: TickContext, found: Mapping[bytes, Discovery]) -> list[bytes]:
    """The seen-keys that may not be in the table yet. With a depth limit this includes a redirect to a known page: see
    `writer.apply`. That page may lie behind the cursor of the ready queue, so the queue is refilled from the start."""
    keys = list(found)
    unseen = [keys[place] for place in context.frontier.seen.missing(keys)]
    if context.options.max_depth is None:
        return unseen
    redirected = [key for key, page in found.items() if page.hops]
    if redirected:
        context.frontier.ready_queue.rewind()
    return list(dict.fromkeys([*unseen, *redirected]))


def _insert_long_sitemaps(
    context: TickContext,
    unseen: list[bytes],
    found: Mapping[bytes, Discovery],
    now: float,
    between: BetweenTransactions,
) -> list[bytes]:
    """A sitemap may name 50,000 pages. Insert most of them first, in transactions of SITEMAP_PAGES_PER_TRANSACTION,
    while the sitemap's own row is still open: if the worker dies in between, the report is processed again. Returns
    the keys that are left."""
    listed = [key for key in unseen if found[key].in_sitemap]
    early = listed[: max(0, len(listed) - 1) // SITEMAP_PAGES_PER_TRANSACTION * SITEMAP_PAGES_PER_TRANSACTION]
    for at in range(0, len(early), SITEMAP_PAGES_PER_TRANSACTION):
        part = early[at : at + SITEMAP_PAGES_PER_TRANSACTION]
        applied = writer.apply(context.id, (), (), [found[key] for key in part], now)
        crash_point("collect: committed")
        if not applied.is_over:
            note_watermark(context, part)
        between()
    done = frozenset(early)
    return [key for key in unseen if key not in done]


def _complete_slices(context: TickContext, done: Sequence[SliceReport]) -> None:
    """Complete the slices that are done; their pages that are still open in the table go back to the frontier: to their
    lane, or in the same step to a slot lane."""
    ended = _still_leased(context, done)  # checked now: another tick may have completed some meanwhile
    still_open = queries.open_pages(context.id, [page for _, _, ids in ended for page in ids])
    update_paces(context, [report.host for report, _, _ in ended])
    with context.frontier.redis.pipeline(transaction=bool(chosen_slot_lanes(context.options))) as pipe:
        for report, lane, ids in ended:
            rest = [queue_item(still_open[page], context.options) for page in ids if page in still_open]
            moved = [item for item in rest if retries.suffix_of(item.host) not in ("", retries.suffix_of(lane))]
            stay = [item for item in rest if item not in moved] if moved else rest
            context.frontier.leases.complete_slice(
                report.batch, report.token, report.slice, lane, stay, report.next_at, pipe
            )
            context.frontier.ready_queue.enqueue(moved, pipe)
        pipe.execute()
