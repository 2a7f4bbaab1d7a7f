"""A job that polls while workers would be idle and a crawl waits for a delay, a back-off or a lease.

RQ's stock worker runs nothing at a later time without a scheduler, so one job sleeps on behalf of all running crawls.
It ends as soon as another job is queued (rule R8).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import count

from django.db import DatabaseError
from django.db.models import Q
from redis.exceptions import RedisError

from crawler import clock
from crawler.core.protocol.completion import MIN_CHECK_INTERVAL_S
from crawler.crashpoints import crash_point
from crawler.crawls.holds import retry_on_outage
from crawler.crawls.reconcile import reconcile, seconds_until_scan
from crawler.models import Crawl, Delivery
from crawler.queueing import queues
from crawler.queueing.wakeups import HELD, RUNNING, ensure_poller, ensure_poller_if_idle, update_rescue_job
from crawler.queueing.workers import registration_of_stock_worker

log = logging.getLogger(__name__)

MAX_POLL_S = 240.0  # then the next poller takes over: a stock worker forks for each job
POLL_INTERVAL_S = 1.0  # between two checks of the queues, unless a job is sent
POLLS_PER_REGISTRATION = 5  # checks after which a stock worker's registration is renewed
LAST_QUEUES = "a page waits in another queue of this worker"
"""Its queue is the last of a stock worker: it gets there only if no idle poller is left in an earlier one. The page's
result sends the next tick, which sends a poller."""
HORIZON_S = 900.0  # the poller does not wait for a notice that is due later, or a hold that ends later


def poll_while_idle(
    wait: Callable[[float], None] = queues.await_job,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Wait until a job is sent or time is up.

    1. If the queues are empty, enqueue the next poller: if this worker dies, another worker finds it. 2. Block until a
    job is sent. Check the queues every second, and the crawls when something is due or `reconcile` allows it. 3. A
    worker that is shutting down leaves the rest of the time to the next poller.
    """
    try:
        return _poll(wait, clock)
    except (RedisError, DatabaseError) as error:
        log.warning("the crawls could not be looked at: %s", error)
        sleep(POLL_INTERVAL_S)
        retry_on_outage(ensure_poller_if_idle, sleep=sleep, clock=clock)
        return "Redis or the database does not respond; another check follows"


def _poll(wait: Callable[[float], None], clock: Callable[[], float]) -> str:
    queues.ensure_rescue_job()  # first of all: this may be the rescue job itself
    if not _is_needed():
        update_rescue_job()
        return "nothing to watch over"
    crash_point("watch: begun")
    if queues.is_for_last_queues():
        return LAST_QUEUES
    ensure_poller_if_idle()
    until, keep_registered = clock() + MAX_POLL_S, registration_of_stock_worker()
    for look in count():
        if clock() >= until or queues.is_stopping():
            break
        if queues.has_work():
            ensure_poller()  # another worker may take the job, and leave this one idle
            return "there is work to do"
        if queues.is_for_last_queues():
            return LAST_QUEUES
        if look % POLLS_PER_REGISTRATION == 0:
            keep_registered()
        found = reconcile(at_once=look == 0)  # this worker's last job may have made work due
        if found is not None and not found.running and not _is_needed():
            update_rescue_job()
            return "nothing left to watch over"
        rest = seconds_until_scan()
        wait(POLL_INTERVAL_S if rest is None else min(POLL_INTERVAL_S, max(MIN_CHECK_INTERVAL_S, rest)))
    if _is_needed():
        ensure_poller_if_idle()
    return "nothing to do yet"


def _is_needed() -> bool:
    """Whether a crawl runs, or a hold ends or a delivery is due within HORIZON_S. Later deliveries are left to `clock`
    or the next job; longer holds to the rescue job, which runs within the horizon."""
    soon = clock.now() + timedelta(seconds=HORIZON_S)
    if Crawl.objects.filter(RUNNING | HELD & Q(held_until__lte=soon)).exists():
        return True
    return Delivery.objects.filter(state=Delivery.PENDING, due_at__lte=soon).exists()
