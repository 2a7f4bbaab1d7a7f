"""Keeps an idle worker at hand while a crawl waits for something: a delay, a back-off, a lease that may run out.

RQ's stock worker has no clock of its own (FACTS: without a scheduler nothing fires later), so one job sleeps on behalf
of all running crawls. It gives way at once when there is anything else to do (rule R8).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import DatabaseError
from django.db.models import Q
from redis.exceptions import RedisError

from crawler import clock, queues
from crawler.crashpoints import crash_point
from crawler.engine.patience import patiently
from crawler.engine.reconcile import survey
from crawler.engine.wake import HELD, RUNNING, keep_or_cut_lifeline, keep_watch, stay_awake
from crawler.models import Crawl, Delivery

log = logging.getLogger(__name__)

WATCH_SECONDS = 5.0  # a watch sleeps no longer than this; then the next one takes over
LOOK_EVERY = 1.0  # seconds between two looks at the crawls, unless something is due sooner
HORIZON = 900.0  # seconds; a notice that is due later, or a hold that ends later, is not waited for
STEP = 0.02  # seconds between two looks at the queues: what a job may have to wait for an idle worker


def watch(sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.monotonic) -> str:
    """Wait until a job is queued or time is up.

    1. If nothing waits, send the next watch: should this worker die, the next one finds it. 2. Look at the queues every
    few milliseconds, at the crawls every second or when something is due. 3. A worker that was asked to end leaves the
    rest of the time to the next watch.
    """
    try:
        return _watch(sleep, clock)
    except (RedisError, DatabaseError) as error:
        log.warning("the crawls could not be looked at: %s", error)
        sleep(LOOK_EVERY)
        patiently(stay_awake, sleep=sleep, clock=clock)
        return "Redis or the database does not answer; another watch follows"


def _watch(sleep: Callable[[float], None], clock: Callable[[], float]) -> str:
    queues.plant_lifeline()  # before all else: this may be the one that was planted before
    if not _is_needed():
        keep_or_cut_lifeline()
        return "nothing to watch over"
    crash_point("watch: begun")
    stay_awake()
    until, look_at = clock() + WATCH_SECONDS, clock()
    while clock() < until and not queues.ends_soon.is_set():
        if queues.has_work():
            keep_watch()  # somebody else may take it, and leave us with nothing
            return "there is work to do"
        if clock() >= look_at:
            if queues.is_stopping():
                break
            found = survey()
            if not found.running and not _is_needed():
                keep_or_cut_lifeline()
                return "nothing left to watch over"
            look_at = clock() + min(LOOK_EVERY, LOOK_EVERY if found.next_in is None else max(STEP, found.next_in))
        sleep(STEP)
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
