"""One tick of the crawl manager. Short, repeatable, safe to run twice; it never waits for anything."""

from __future__ import annotations

import logging
import secrets
from uuid import UUID

from crawler import queues
from crawler.core.completion import Verdict
from crawler.core.lifecycle import State
from crawler.engine.collect import collect
from crawler.engine.conclude import conclude
from crawler.engine.desk import Desk, desk_of
from crawler.engine.dispatch import dispatch
from crawler.engine.repair import repair
from crawler.engine.wake import stay_awake, wake
from crawler.frontier.frontier import Frontier
from crawler.frontier.results import Released
from crawler.models import Crawl, Delivery

log = logging.getLogger(__name__)

TICK_SECONDS = 10.0  # a tick that is still busy after this hands over to a fresh one


def manage(crawl_id: UUID) -> str:
    """Run one tick; one line saying what was done, for the dashboard.

    1. Become the one tick at work, or leave the mark set for the one that is.
    2. Clear the mark, *then* drain: whoever leaves a result from now on sets it again (rule R5).
    3. Collect results, repair leases, hand out batches, conclude.
    4. Give the lock back only if the mark is still clear; else begin again at 2.
    """
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:  # its memory is left alone: it may be the crawl of another installation
        log.warning("no crawl %s in this database; do two installations share one Redis?", crawl_id)
        return "there is no such crawl in this database"
    if crawl.is_over:
        Frontier(queues.connection(), str(crawl_id)).clear()  # what a late result left
        return "the crawl is over"
    desk = desk_of(crawl)
    token = secrets.token_hex(8)
    if not desk.frontier.results.lock(token):
        return "another tick is at work; it was left a mark"
    try:
        done = _work(desk, token)
        if not desk.crawl.is_over:
            desk.frontier.results.note_tick(desk.now(), done)
    finally:
        desk.frontier.results.drop_lock(token)
        if Crawl.objects.filter(state=State.RUNNING).exists():
            stay_awake()
    return done


def _work(desk: Desk, token: str) -> str:
    results = desk.frontier.results
    began = desk.now()
    collected = handed_out = 0
    while True:
        results.clear_mark()
        while taken_in := collect(desk):
            collected += taken_in
            results.lock(token)
        repair(desk)
        said = Verdict.GO_ON
        if _may_dispatch(desk):
            handed_out += dispatch(desk)
            said = conclude(desk)
            if said is Verdict.FINISH:
                desk.frontier.clear()
                if Delivery.objects.filter(notice__crawl_id=desk.id).exists():
                    queues.send_notify()
                return f"took in {collected} reports; the crawl is finished"
        if desk.now() - began > TICK_SECONDS:
            results.drop_lock(token)
            wake(desk.frontier, desk.crawl.site)
            break
        if said is Verdict.DISAGREE:
            continue  # the frontier was forgotten: fill it again at once
        if results.release(token) is not Released.DIRTY:
            break
    return f"took in {collected} reports, handed out {handed_out} batches"


def _may_dispatch(desk: Desk) -> bool:
    """Ask the table anew: the crawl may have been paused since this tick began."""
    return Crawl.objects.filter(id=desk.id, state=State.RUNNING).exists()
