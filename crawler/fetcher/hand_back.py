"""Reads the batches of jobs, and hands back batches of a newer version of the project.

Workers of two versions work side by side while an installation is upgraded, see `core.protocol.messages`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from crawler import logs
from crawler.core.errors import NewerMessage
from crawler.core.protocol import retries
from crawler.core.protocol.messages import Batch, BatchHead, SliceReport
from crawler.frontier.frontier import Frontier
from crawler.queueing import queues
from crawler.queueing.wakeups import wake

log = logging.getLogger(__name__)

PAUSE_S = 1.0  # in which a worker of the newer version takes the batch that the next tick sends


def read_batch(plain: Mapping[str, Any]) -> Batch | None:
    """The batch of a job; None if this version does not understand it. Then its pages go back to the frontier at once,
    and no attempt is counted, as when a worker shuts down."""
    try:
        return Batch.from_plain(plain)
    except NewerMessage as error:
        head = BatchHead.from_plain(plain)
        extra = {**logs.of(head.crawl), "batch": head.id}
        log.warning("a batch is handed back, because it is not understood: %s", error, extra=extra)
        _hand_back(head)
        return None


def leave_to_others() -> str:
    """Called after a batch was handed back, so that workers of an older version do not take it again and again."""
    queues.stop_request.wait(PAUSE_S)
    return "the batch was handed back: a newer version of the project sent it"


def _hand_back(head: BatchHead) -> None:
    """Report every slice as done, without results. If the process dies first, the batch is found as one that RQ has
    lost. Nothing is reported if another job has claimed the batch."""
    frontier = Frontier(queues.connection(), head.crawl)
    lease = frontier.leases.get(head.id)
    if lease is None or lease.token != head.token or lease.held:
        return
    reports = [
        SliceReport(
            batch=head.id, token=head.token, slice=number, host=retries.host_of(lane), results=(), next_at=0, done=True
        )
        for number, (lane, _) in lease.slices.items()
    ]
    wake(frontier, head.site, reports)
