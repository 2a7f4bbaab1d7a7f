"""Step two of a tick: reclaim the batches of dead workers, and those whose job RQ has lost (rule R4)."""

from __future__ import annotations

from collections.abc import Collection

from crawler import conf
from crawler.core.options.queue import EARLY
from crawler.core.protocol import retries
from crawler.core.protocol.collectors import collector_of
from crawler.crashpoints import crash_point
from crawler.frontier.leases import Lease
from crawler.frontier.ready_queue import JOB_CHECK_INTERVAL_S
from crawler.manager.context import TickContext, queue_item
from crawler.notices.outbox import closed_page_notifier
from crawler.queueing import queues
from crawler.storage import deaths, queries

RESULTS_WAIT_S = 1.0  # until a lease is checked again whose results another collector has not stored yet
STARTED_GRACE_S = 10.0  # seconds a job may be "started" in RQ's eyes without having claimed its batch


def recover_leases(context: TickContext, overdue: Collection[Lease]) -> int:
    """Check these leases; returns how many were reclaimed. They were `overdue` before the reports were processed: a
    lease that expired since then, because this tick was slow, may have reports waiting, even if its batch waited for a
    worker before. So may that of a batch whose reports another collector stores, unless it has none: its check is put
    off, because an overdue lease asks for one tick of this collector after the other."""
    if not overdue:
        return 0
    others = context.frontier.collectors_with_results() - {context.collector}
    now = context.now()
    known = {(lease.batch, lease.held) for lease in overdue}
    queued, started = (
        {job for name in queues.batch_queues() for job in jobs(name)} for jobs in (queues.queued, queues.started)
    )
    taken_back = 0
    for lease in context.frontier.leases.overdue(now):
        if (lease.batch, lease.held) not in known:
            continue
        if collector_of(lease.batch) in others:
            context.frontier.leases.postpone_check(lease, now + RESULTS_WAIT_S, lease.absent_since)
        elif lease.held:
            if context.options.ack == EARLY:
                _close_lost(context, lease, now)
            else:
                _count_death(context, lease, now)
            _reclaim(context, lease)
            taken_back += 1
        elif lease.batch in queued:
            context.frontier.leases.postpone_check(lease, now + JOB_CHECK_INTERVAL_S, None)
        elif _is_lost(lease, lease.batch in started, now):
            _reclaim(context, lease)
            taken_back += 1
        else:
            context.frontier.leases.postpone_check(lease, now + JOB_CHECK_INTERVAL_S, lease.absent_since or now)
    return taken_back


def _is_lost(lease: Lease, is_started: bool, now: float) -> bool:
    """The job was absent from RQ's queue at two checks some seconds apart. A job in RQ's started registry may be slow
    to begin, or its worker died before it claimed the batch."""
    if lease.absent_since is None:
        return False
    return now - lease.absent_since >= (STARTED_GRACE_S if is_started else JOB_CHECK_INTERVAL_S)


def _count_death(context: TickContext, lease: Lease, now: float) -> None:
    """The worker died. Its pages are suspects from now on and are fetched in smaller groups. The page it had noted as
    current, if any, is blamed, and fails if it was fetched alone and has killed enough workers."""
    is_alone = [retries.batch_size(lane) for lane, _ in lease.slices.values()] == [1]
    crashed = deaths.count_death(
        context.id,
        _ids(lease),
        lease.token,
        now,
        in_hand=(lease.suspect.page, lease.suspect.attempt) if lease.suspect else None,
        crashed_from=conf.max_attempts() if is_alone else None,
        on_closed=closed_page_notifier(context.options),
    )
    context.frontier.dead_letters.add(crashed, now)
    crash_point("repair: deaths counted")


def _close_lost(context: TickContext, lease: Lease, now: float) -> None:
    """The worker died with pages that were acknowledged when it took them: they close, and a user may retry them."""
    lost = deaths.close_lost(context.id, _ids(lease), now, closed_page_notifier(context.options))
    crash_point("repair: pages lost")
    context.frontier.dead_letters.add(lost, now)


def _reclaim(context: TickContext, lease: Lease) -> None:
    still_open = queries.open_pages(context.id, _ids(lease)).values()
    context.frontier.reclaim(lease, [queue_item(page, context.options) for page in still_open])


def _ids(lease: Lease) -> list[int]:
    return [page for _, ids in lease.slices.values() for page in ids]
