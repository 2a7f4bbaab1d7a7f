"""One tick of the crawl manager. Short, repeatable, safe to run twice; it never waits for anything."""

from __future__ import annotations

import logging
import secrets
from uuid import UUID

from django.db import DatabaseError

from crawler import clock
from crawler.core.crawl.completion import State, Verdict
from crawler.core.installation.backpressure import because
from crawler.core.text.quantities import counted
from crawler.crashpoints import crash_point
from crawler.crawls.credentials import is_equipped
from crawler.crawls.finalize import clear_away
from crawler.crawls.holds import hold, may_go_on, noted, ration
from crawler.crawls.outages import patiently
from crawler.frontier.frontier import Frontier
from crawler.frontier.results import Released
from crawler.logs import about
from crawler.manager.collect import collect
from crawler.manager.context import Desk, desk_of
from crawler.manager.dispatch import dispatch, expire
from crawler.manager.finish import conclude
from crawler.manager.reconcile import look_when_due
from crawler.manager.recover_leases import repair
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.queueing.wakeups import keep_watch, stay_awake, wake
from crawler.storage.postgresql import is_lock_timeout

log = logging.getLogger(__name__)

DRAIN_SECONDS = 0.5  # results are taken in for so long before new work is handed out
TICK_SECONDS = 10.0  # a tick that is still busy after this hands over to a fresh one

GIVE_WAY_SECONDS = 3.0  # until a tick that could not have the crawl's row is tried again


def manage(crawl_id: UUID) -> str:
    """Run one tick; one line saying what was done, for the dashboard.

    1. Become the one tick at work, or leave the mark set for the one that is.
    2. Clear the mark, *then* drain: whoever leaves a result from now on sets it again (rule R5).
    3. Collect results, repair leases, hand out batches, conclude.
    4. Give the lock back only if the mark is still clear; else begin again at 2.

    A tick whose worker was asked to end leaves the rest to a fresh one, between two transactions.
    """
    with about(crawl=str(crawl_id)):
        try:
            return _tick(crawl_id)
        except DatabaseError as error:
            short = noted(error)
            if short is None:
                raise
            hold(crawl_id, short)
            return f"nothing could be taken in, because {because(short)}"


def _tick(crawl_id: UUID) -> str:
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        return _unknown(Frontier(queues.connection(), str(crawl_id)))
    if crawl.is_over:
        clear_away(crawl)  # what a late result left
        return "the crawl is over"
    desk = desk_of(crawl)
    token = secrets.token_hex(8)
    if not desk.frontier.results.lock(token):
        keep_watch()  # should the other one be dead, its lock runs out
        return "another tick is at work; it was left a mark"
    crash_point("tick: lock taken")
    began = desk.now()
    try:
        _mind_the_clock(desk)
        done = _work(desk, token)
        desk.frontier.results.note_tick(desk.now(), done, desk.now() - began)
    except Crawl.DoesNotExist:
        done = "the crawl was deleted in the middle of this tick"
    except Exception as error:
        if is_lock_timeout(error):
            return _give_way(desk, token, began)
        patiently(lambda: _leave_to_others(desk, token))  # Redis or the database is away: somebody must look again
        raise
    desk.frontier.results.drop_lock(token)
    crash_point("tick: lock given back")
    look_when_due(desk.frontier, desk.now())
    _part(crawl_id)
    return done


def _give_way(desk: Desk, token: str, began: float) -> str:
    """Somebody else's transaction has locked what this tick must write. Nothing was written, and the reports are still
    there: whoever looks (rule R7) sends the next tick once the lock on ticks has run out. So one worker at a time waits
    for the row, and for no more than a part of its time."""
    said = "gave way: another connection to the database has locked the crawl's row"
    log.warning("crawl %s: %s", desk.id, said)
    desk.frontier.results.note_tick(desk.now(), said, desk.now() - began)
    desk.frontier.results.lock(token, GIVE_WAY_SECONDS)
    stay_awake()
    return said


def _mind_the_clock(desk: Desk) -> None:
    """Redis's clock was set back: so that nothing waits for moments that were written before, the window is filled
    again from the table. A process that stood still with its machine may only believe so, and so asks again."""
    last = desk.frontier.results.last_tick()
    if last is None or not last.is_to_come(desk.now()):
        return
    clock.shared.read()
    if last.is_to_come(desk.now()):
        log.warning("crawl %s: Redis's clock was set back; its frontier is built again from the table", desk.id)
        desk.frontier.window.forget()


def _leave_to_others(desk: Desk, token: str) -> None:
    desk.frontier.results.drop_lock(token)
    stay_awake()


def _unknown(frontier: Frontier) -> str:
    """A crawl that is not in the table. Its memory is left alone, for it may be another installation's, unless we know
    that it was deleted."""
    if frontier.is_condemned():
        frontier.clear()
        return "the crawl was deleted"
    log.warning("no crawl %s in this database; do two installations share one Redis?", frontier.keys.crawl)
    return "there is no such crawl in this database"


def _part(crawl_id: UUID) -> None:
    """The end of a tick: a crawl that is over by now (this tick finished it, or somebody cancelled or deleted it in its
    middle) leaves nothing in Redis; while any crawl runs, somebody stays awake."""
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        _unknown(Frontier(queues.connection(), str(crawl_id)))
    elif crawl.is_over:
        clear_away(crawl)
    is_running = crawl is not None and crawl.state == State.RUNNING
    if is_running or Crawl.objects.filter(state=State.RUNNING).exists():
        keep_watch()


class _StopRequested(Exception):
    """Raised between two transactions: what is committed stays, and nothing else was begun."""


def _check_stop() -> None:
    if queues.is_stopping():
        raise _StopRequested


def _work(desk: Desk, token: str) -> str:
    try:
        return _in_rounds(desk, token)
    except _StopRequested:
        _hand_over(desk, token)
        return "the worker was asked to end; a fresh tick takes over"


def _hand_over(desk: Desk, token: str) -> None:
    """Leave the rest to a fresh tick."""
    desk.frontier.results.drop_lock(token)
    desk.frontier.results.clear_mark()  # the tick it speaks of may have come and found the lock taken
    wake(desk.frontier, desk.crawl.site)


def _in_rounds(desk: Desk, token: str) -> str:
    results = desk.frontier.results
    began = desk.now()
    collected = handed_out = 0
    while True:
        results.clear_mark()
        crash_point("tick: mark cleared")
        overdue = desk.frontier.leases.overdue(desk.now())
        taken_in, is_drained = _drain(desk, token)
        collected += taken_in
        crash_point("tick: reports taken in")
        if is_drained:  # a job that had ended had left its reports before its lease ran out: what is left is dead
            repair(desk, overdue)
        _check_stop()
        said = Verdict.GO_ON
        if _may_dispatch(desk, has_stored=taken_in > 0):
            expire(desk)
            handed_out += dispatch(desk)
            _check_stop()
            said = conclude(desk)
            if said is Verdict.FINISH:
                return f"took in {counted(collected, 'report')}; the crawl is finished"
        if desk.now() - began > TICK_SECONDS:
            _hand_over(desk, token)
            break
        if said is Verdict.DISAGREE or not is_drained:
            continue  # the frontier was forgotten: fill it again at once; or there are more results
        if results.release(token) is not Released.DIRTY:
            break
    return f"took in {counted(collected, 'report')}, handed out {counted(handed_out, 'batch')}"


def _drain(desk: Desk, token: str) -> tuple[int, bool]:
    """Take in what was left; how many reports, and whether that was all. Many workers may leave results faster than
    they are taken in, and must be given new work in between."""
    results, until, collected = desk.frontier.results, desk.now() + DRAIN_SECONDS, 0

    def between() -> None:
        _check_stop()
        results.lock(token)

    _check_stop()
    while taken_in := collect(desk, between):
        collected += taken_in
        between()
        if desk.now() > until:
            return collected, False
    return collected, True


def _may_dispatch(desk: Desk, *, has_stored: bool) -> bool:
    """Ask the table anew: the crawl may have been paused since this tick began."""
    ration(desk.crawl)
    is_running = Crawl.objects.filter(id=desk.id, state=State.RUNNING).exists()
    return is_running and is_equipped(desk.crawl) and may_go_on(desk.crawl, has_stored=has_stored)
