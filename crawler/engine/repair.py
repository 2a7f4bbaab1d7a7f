"""Step two of a tick: take back what dead workers hold and what RQ has lost (rule R4)."""

from __future__ import annotations

from crawler import conf, pages, queues, table
from crawler.core import suspects
from crawler.crashpoints import crash_point
from crawler.engine.desk import Desk, waiting
from crawler.engine.page_notices import teller_of_closed
from crawler.frontier.leases import Lease
from crawler.frontier.window import LOOK_AFTER

STARTED_GRACE = 10.0  # seconds a job may be "started" in RQ's eyes without having claimed its batch


def repair(desk: Desk) -> int:
    """Look at every lease that is overdue; how many were taken back."""
    now = desk.now()
    overdue = desk.frontier.leases.overdue(now)
    if not overdue:
        return 0
    queued, started = queues.queued(queues.FETCH), queues.started(queues.FETCH)
    taken_back = 0
    for lease in overdue:
        if lease.held:
            _count_deaths(desk, lease, now)
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


def _count_deaths(desk: Desk, lease: Lease, now: float) -> None:
    """Its holder died. A page that was alone with it is to blame once its attempts are used up; others are suspects,
    and go on in smaller company."""
    ids = _ids(lease)
    is_alone = [suspects.company(lane) for lane, _ in lease.slices.values()] == [1]
    blamed_from = conf.max_attempts() if is_alone else None
    told = teller_of_closed(desk.options)
    blamed = pages.count_lost_attempts(desk.id, ids, lease.token, now, blamed_from=blamed_from, on_closed=told)
    desk.frontier.dead.add(blamed, now)


def _take_back(desk: Desk, lease: Lease) -> None:
    still_open = table.open_pages(desk.id, _ids(lease)).values()
    desk.frontier.take_back(lease, [waiting(page) for page in still_open])


def _ids(lease: Lease) -> list[int]:
    return [page for _, ids in lease.slices.values() for page in ids]
