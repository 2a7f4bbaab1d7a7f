"""Step two of a tick: take back what dead workers hold and what RQ has lost (rule R4)."""

from __future__ import annotations

from collections.abc import Collection

from crawler import conf
from crawler.core.crawl import retries
from crawler.crashpoints import crash_point
from crawler.frontier.leases import Lease
from crawler.frontier.ready_queue import LOOK_AFTER
from crawler.manager.context import Desk, waiting
from crawler.notices.outbox import teller_of_closed
from crawler.queueing import queues
from crawler.storage import queries, writer

STARTED_GRACE = 10.0  # seconds a job may be "started" in RQ's eyes without having claimed its batch


def repair(desk: Desk, overdue: Collection[Lease]) -> int:
    """Look at these leases; how many were taken back. They were `overdue` before the reports were taken in: of one that
    ran out since then, because this tick was held up, reports may wait."""
    if not overdue:
        return 0
    now, batches = desk.now(), {lease.batch for lease in overdue}
    queued, started = queues.queued(queues.FETCH), queues.started(queues.FETCH)
    taken_back = 0
    for lease in desk.frontier.leases.overdue(now):
        if lease.batch not in batches:
            continue
        if lease.held:
            _count_death(desk, lease, now)
            crash_point("repair: deaths counted")
            _take_back(desk, lease)
            taken_back += 1
        elif lease.batch in queued:
            desk.frontier.leases.look_again(lease, now + LOOK_AFTER, None)
        elif _is_lost(lease, lease.batch in started, now):
            _take_back(desk, lease)
            taken_back += 1
        else:
            desk.frontier.leases.look_again(lease, now + LOOK_AFTER, lease.absent_since or now)
    return taken_back


def _is_lost(lease: Lease, is_started: bool, now: float) -> bool:
    """Not waiting on two looks some seconds apart. A job that RQ calls started may just be slow to begin, or its
    worker died before it claimed the batch."""
    if lease.absent_since is None:
        return False
    return now - lease.absent_since >= (STARTED_GRACE if is_started else LOOK_AFTER)


def _count_death(desk: Desk, lease: Lease, now: float) -> None:
    """Its holder died. Its pages are suspects from now on, and go on in smaller company. The one it had in hand, if it
    had noted any, is to blame, and is given up if it was alone and workers enough have died over it."""
    is_alone = [retries.company(lane) for lane, _ in lease.slices.values()] == [1]
    crashed = writer.count_death(
        desk.id,
        _ids(lease),
        lease.token,
        now,
        in_hand=(lease.in_hand.page, lease.in_hand.attempt) if lease.in_hand else None,
        crashed_from=conf.max_attempts() if is_alone else None,
        on_closed=teller_of_closed(desk.options),
    )
    desk.frontier.dead.add(crashed, now)


def _take_back(desk: Desk, lease: Lease) -> None:
    still_open = queries.open_pages(desk.id, _ids(lease)).values()
    desk.frontier.take_back(lease, [waiting(page) for page in still_open])


def _ids(lease: Lease) -> list[int]:
    return [page for _, ids in lease.slices.values() for page in ids]
