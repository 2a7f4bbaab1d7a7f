"""One tick of the crawl manager. Short, repeatable, safe to run twice; it never waits for anything."""

from __future__ import annotations

import logging
import secrets
from uuid import UUID

from django.db import DatabaseError

from crawler import clock
from crawler.core.protocol.completion import CompletionCheck, State
from crawler.core.text.quantities import counted
from crawler.crashpoints import crash_point
from crawler.crawls.control import check_failures, clean_up
from crawler.crawls.credentials import check_credentials
from crawler.crawls.holds import check_capacity, check_room, enforce_quota, hold, note_shortage_from, retry_on_outage
from crawler.crawls.reconcile import scan_when_due
from crawler.frontier.frontier import Frontier
from crawler.frontier.results import ReleaseResult
from crawler.logs import about
from crawler.manager.collect import collect
from crawler.manager.context import TickContext, context_of
from crawler.manager.dispatch import dispatch, expire
from crawler.manager.finish import finish_if_done
from crawler.manager.recover_leases import recover_leases
from crawler.manager.restored import detect_rollback
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.queueing.wakeups import ensure_poller, ensure_poller_if_idle, wake
from crawler.reports.cause_text import because
from crawler.storage.database import is_lock_timeout

log = logging.getLogger(__name__)

MAX_DRAIN_S = 0.5  # results are processed for this long before new work is handed out
MAX_TICK_S = 10.0  # a tick that is still busy after this hands over to a new one
ROW_LOCK_RETRY_S = 3.0  # until a tick that could not lock the crawl's row is retried


def manage(crawl_id: UUID, collector: int = 0) -> str:
    """Run one tick; returns a line saying what was done, for the dashboard.

    1. Take the tick lock, or leave the mark set for the tick that holds it.
    2. Clear the mark, *then* drain: a fetch job that leaves a result from now on sets it again (rule R5).
    3. Collect results, recover leases, dispatch batches, finish.
    4. Release the lock only if the mark is still clear; else start again at 2.

    If its worker is shutting down, the tick leaves the rest to a new one, between two transactions.

    A crawl may have several collectors, each with results, mark and lock of its own. The tick of a collector other than
    the first only collects results; then it sends one of the first.
    """
    with about(crawl=str(crawl_id)):
        try:
            return _tick(crawl_id, collector)
        except DatabaseError as error:
            short = note_shortage_from(error)
            if short is None:
                raise
            hold(crawl_id, short)
            return f"nothing could be taken in, because {because(short)}"


def _tick(crawl_id: UUID, collector: int) -> str:
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        return _handle_missing_crawl(Frontier(queues.connection(), str(crawl_id)))
    if crawl.is_over:
        clean_up(crawl)  # keys written by a late result
        return "the crawl is over"
    context = context_of(crawl, collector)
    token = secrets.token_hex(8)
    if not context.frontier.results.acquire_lock(token):
        ensure_poller()  # if the other tick is dead, its lock expires
        return "another tick is at work; it was left a mark"
    crash_point("tick: lock taken")
    began = context.now()
    try:
        if not collector:
            _detect_clock_rollback(context)
        detect_rollback(context, lambda: context.frontier.results.acquire_lock(token))
        done = _work(context, token)
        context.frontier.results.note_tick(context.now(), done, context.now() - began)
    except Crawl.DoesNotExist:
        done = "the crawl was deleted in the middle of this tick"
    except Exception as error:
        if is_lock_timeout(error):
            return _defer_tick(context, token, began)
        retry_on_outage(lambda: _release_after_error(context, token))  # so that another tick runs
        raise
    context.frontier.results.release_lock(token)
    crash_point("tick: lock given back")
    if collector:
        _wake_first(context)  # after the release: see `_run_passes`
    scan_when_due(context.frontier, context.now())
    _end_tick(crawl_id)
    return done


def _defer_tick(context: TickContext, token: str, began: float) -> str:
    """Another transaction has locked a row this tick must write. Nothing was written, and the reports are still there:
    `reconcile` (rule R7) sends the next tick when the tick lock has expired. So only one worker at a time waits for
    the row, and only part of its time."""
    summary = "gave way: another connection to the database has locked the crawl's row"
    log.warning("crawl %s: %s", context.id, summary)
    context.frontier.results.note_tick(context.now(), summary, context.now() - began)
    context.frontier.results.acquire_lock(token, ROW_LOCK_RETRY_S)
    ensure_poller_if_idle()
    return summary


def _detect_clock_rollback(context: TickContext) -> None:
    """If Redis's clock was set back, rebuild the ready queue from the table, so that nothing waits for times written
    before. A process that was suspended may see this wrongly, so it reads the clock once more."""
    last = context.frontier.results.last_tick()
    if last is None or not last.is_in_future(context.now()):
        return
    clock.shared.read()
    if last.is_in_future(context.now()):
        log.warning("crawl %s: Redis's clock was set back; its frontier is built again from the table", context.id)
        context.frontier.ready_queue.clear()


def _release_after_error(context: TickContext, token: str) -> None:
    context.frontier.results.release_lock(token)
    ensure_poller_if_idle()


def _handle_missing_crawl(frontier: Frontier) -> str:
    """A crawl that is not in the table. Its keys are deleted only if it is marked as deleted: otherwise it may belong
    to another installation."""
    if frontier.is_marked_deleted():
        frontier.clear()
        return "the crawl was deleted"
    log.warning("no crawl %s in this database; do two installations share one Redis?", frontier.keys.crawl)
    return "there is no such crawl in this database"


def _end_tick(crawl_id: UUID) -> None:
    """A crawl that is over by now (finished by this tick, or cancelled or deleted meanwhile) leaves nothing in Redis;
    while any crawl runs, an idle poller is queued."""
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        _handle_missing_crawl(Frontier(queues.connection(), str(crawl_id)))
    elif crawl.is_over:
        clean_up(crawl)
    is_running = crawl is not None and crawl.state == State.RUNNING
    if is_running or Crawl.objects.filter(state=State.RUNNING).exists():
        ensure_poller()


class _StopRequested(Exception):
    """Raised between two transactions."""


def _check_stop() -> None:
    if queues.is_stopping():
        raise _StopRequested


def _work(context: TickContext, token: str) -> str:
    try:
        return _run_passes(context, token)
    except _StopRequested:
        _hand_over(context, token)
        return "the worker was asked to end; a fresh tick takes over"


def _hand_over(context: TickContext, token: str) -> None:
    """Leave the rest to a new tick."""
    context.frontier.results.release_lock(token)
    context.frontier.results.clear_mark()  # the tick named by the mark may have found the lock taken
    wake(context.frontier, context.crawl.site)


def _wake_first(context: TickContext) -> None:
    """Send a tick of the first collector: there may be new pages to dispatch, and hosts that may be asked again."""
    wake(Frontier(context.frontier.redis, str(context.id), clock=context.now), context.crawl.site)


def _run_passes(context: TickContext, token: str) -> str:
    """The crawl finishes only if nothing was left to store from before the dispatch on. Else another collector could
    commit new pages after the refill, and be done before the completion check, which would find them open and queued
    nowhere. It holds its lock until it has stored all and sends a tick then, so the check is made again."""
    results = context.frontier.results
    began = context.now()
    collected = handed_out = 0
    while True:
        results.clear_mark()
        crash_point("tick: mark cleared")
        overdue = [] if context.collector else context.frontier.leases.overdue(context.now())
        taken_in, is_drained = _drain(context, token)
        collected += taken_in
        crash_point("tick: reports taken in")
        if is_drained:  # a job that ended left its reports before its lease expired, so the others are dead
            recover_leases(context, overdue)
        _check_stop()
        verdict = CompletionCheck.GO_ON
        if context.collector:
            if taken_in:
                _wake_first(context)
        elif _can_dispatch(context, has_stored=taken_in > 0):
            was_idle = context.frontier.queue_side().is_idle
            expire(context)
            handed_out += dispatch(context)
            _check_stop()
            if was_idle:
                verdict = finish_if_done(context)
            if verdict is CompletionCheck.FINISH:
                return f"took in {counted(collected, 'report')}; the crawl is finished"
        if context.now() - began > MAX_TICK_S:
            _hand_over(context, token)
            break
        if verdict is CompletionCheck.DISAGREE or not is_drained:
            continue  # the frontier was cleared: refill it at once; or there are more results
        if results.release_lock_if_clean(token) is not ReleaseResult.DIRTY:
            break
    return f"took in {counted(collected, 'report')}, handed out {counted(handed_out, 'batch')}"


def _drain(context: TickContext, token: str) -> tuple[int, bool]:
    """Process reports; returns how many, and whether that was all. Many workers may produce results faster than the
    tick processes them, and need new work in between."""
    results, until, collected = context.frontier.results, context.now() + MAX_DRAIN_S, 0

    def between() -> None:
        _check_stop()
        results.acquire_lock(token)

    _check_stop()
    while taken_in := collect(context, between):
        collected += taken_in
        between()
        if context.now() > until:
            return collected, False
    return collected, True


def _can_dispatch(context: TickContext, *, has_stored: bool) -> bool:
    """Checks the table again: the crawl may have been paused since this tick began."""
    enforce_quota(context.crawl)
    is_running = Crawl.objects.filter(id=context.id, state=State.RUNNING).exists()
    may_request = is_running and check_credentials(context.crawl) and check_failures(context.crawl)
    return may_request and check_room(context.crawl) and check_capacity(context.crawl, has_stored=has_stored)
