"""Keeps an idle worker at hand while a crawl waits for something: a delay, a back-off, a lease that may run out.

RQ's stock worker has no clock of its own (FACTS: without a scheduler nothing fires later), so one job sleeps on behalf
of all running crawls. It gives way at once when there is anything else to do (rule R8).
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
from crawler.core.crawl.completion import LEAST
from crawler.crashpoints import crash_point
from crawler.crawls.outages import patiently
from crawler.manager.reconcile import reconcile, rest_of_looks
from crawler.models import Crawl, Delivery
from crawler.queueing import queues
from crawler.queueing.wakeups import HELD, RUNNING, keep_or_cut_lifeline, keep_watch, stay_awake

log = logging.getLogger(__name__)

WATCH_SECONDS = 240.0  # a watch lasts no longer than this, then the next one takes over: a stock worker forks for each
LOOK_EVERY = 1.0  # seconds between two looks at the queues, unless a job is sent
REGISTER_LOOKS = 5  # of those; how often a stock worker's registration is seen to
HORIZON = 900.0  # seconds; a notice that is due later, or a hold that ends later, is not waited for


def watch(
    wait: Callable[[float], None] = queues.await_job,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Wait until a job is sent or time is up.

    1. If nothing waits, send the next watch: should this worker die, the next one finds it. 2. Block until a job is
    sent. Look at the queues every second, at the crawls when something is due or nobody did for a while (`reconcile`).
    3. A worker that was asked to end leaves the rest of the time to the next watch.
    """
    try:
        return _watch(wait, clock)
    except (RedisError, DatabaseError) as error:
        log.warning("the crawls could not be looked at: %s", error)
        sleep(LOOK_EVERY)
        patiently(stay_awake, sleep=sleep, clock=clock)
        return "Redis or the database does not answer; another watch follows"


def _watch(wait: Callable[[float], None], clock: Callable[[], float]) -> str:
    queues.plant_lifeline()  # before all else: this may be the one that was planted before
    if not _is_needed():
        keep_or_cut_lifeline()
        return "nothing to watch over"
    crash_point("watch: begun")
    stay_awake()
    until, keep_registered = clock() + WATCH_SECONDS, queues.registration_of_stock_worker()
    for look in count():
        if clock() >= until or queues.is_stopping():
            break
        if queues.has_work():
            keep_watch()  # somebody else may take it, and leave us with nothing
            return "there is work to do"
        if look % REGISTER_LOOKS == 0:
            keep_registered()
        found = reconcile(at_once=look == 0)  # what this worker did before may have changed what is due
        if found is not None and not found.running and not _is_needed():
            keep_or_cut_lifeline()
            return "nothing left to watch over"
        rest = rest_of_looks()
        wait(LOOK_EVERY if rest is None else min(LOOK_EVERY, max(LEAST, rest)))
    if _is_needed():
        stay_awake()
    return "nothing to do yet"


def _is_needed() -> bool:
    """A delivery that is to be tried again in some hours is left to `clock`, or to the next job that comes along; a
    crawl that is held for hours to the lifeline, which wakes somebody within the horizon."""
    soon = clock.now() + timedelta(seconds=HORIZON)
    if Crawl.objects.filter(RUNNING | HELD & Q(held_until__lte=soon)).exists():
        return True
    return Delivery.objects.filter(state=Delivery.PENDING, due_at__lte=soon).exists()
