"""Does the work that is due for unfinished crawls: wakes crawls without progress, resumes crawls whose hold is over,
sends due notices. Any process may call it (rule R7)."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from django.db import DatabaseError
from redis.exceptions import ResponseError

from crawler.accounts import audit
from crawler.core.protocol.completion import MAX_CHECK_INTERVAL_S, MIN_CHECK_INTERVAL_S, State, rest_after
from crawler.core.protocol.lanes import suffixes
from crawler.crawls import delete, holds, import_urls, kept_extraction
from crawler.frontier import scripts
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import RECONCILED
from crawler.notices import outbox
from crawler.queueing import liveness, queues
from crawler.queueing.duties import DutyResult, Scan

DUTIES: tuple[Callable[[Scan], DutyResult], ...] = (
    holds.update_holds,
    import_urls.discard_abandoned,
    liveness.wake_stopped,
    delete.clean_up_left_over,
    kept_extraction.send_lost,
    outbox.send_due,
)
"""In this order: a crawl whose hold is over is woken by the same scan."""


class ScanResult(msgspec.Struct, frozen=True):
    """What a scan found. The idle poller goes on while there are running crawls or pending deliveries."""

    running: int  # crawls
    woken: int  # of them
    pending: int  # deliveries
    next_in: float | None  # seconds until something is due; None = nothing has a time


def reconcile(*, at_once: bool = False) -> ScanResult | None:
    """Scan, and wake the crawls that need it. None when another process scanned just now (unless `at_once`): frequent
    calls are cheap. None as well while Redis refuses writes: then no crawl can be woken, and crawls are held."""
    try:
        if not queues.connection().set(RECONCILED, 1, nx=not at_once, px=int(MAX_CHECK_INTERVAL_S * liveness.MS_PER_S)):
            return None
    except ResponseError as error:
        short = holds.shortage_of(error)
        if short is None:
            raise
        holds.hold_all(short)
        return None
    began, found = time.monotonic(), None
    try:
        found = scan()
    finally:
        scan_within(rest_after(time.monotonic() - began, found.next_in if found else None))
    return found


def scan_within(seconds: float) -> None:
    """Allow the next scan in so many seconds at the latest. Never postpones a scan: its finding may be outdated by the
    time it ends."""
    scripts.run(queues.connection(), "expire_sooner", [RECONCILED], [max(1, int(seconds * liveness.MS_PER_S))])


def scan_when_due(frontier: Frontier, now: float) -> None:
    """Called at the end of a tick: it may leave a host that is due before the next scan."""
    dues = map(frontier.ready_queue.next_due, suffixes())
    due = min((moment for moment in dues if moment is not None), default=None)
    if due is not None:
        scan_within(max(MIN_CHECK_INTERVAL_S, due - now))


def seconds_until_scan() -> float | None:
    """Seconds until the next scan is allowed; None = at any time, or Redis refuses writes."""
    left = int(queues.connection().pttl(RECONCILED))
    return None if left == liveness.NO_SUCH_KEY else left / liveness.MS_PER_S + liveness.EXPIRY_SLACK_S


def scan() -> ScanResult:
    """Do every duty. The actor is the system, not the user whose request or job happened to call this."""
    try:
        with audit.as_system():
            return _scan()
    except DatabaseError as error:
        holds.note_shortage_from(error)
        raise


def _scan() -> ScanResult:
    scan = Scan()
    results = [duty(scan) for duty in DUTIES]
    moments = [moment for result in results for moment in result.moments]
    return ScanResult(
        running=sum(crawl.state == State.RUNNING for crawl in scan.crawls),
        woken=sum(result.woken for result in results),
        pending=sum(result.pending for result in results),
        next_in=max(0.0, min(moments) - scan.now) if moments else None,
    )
