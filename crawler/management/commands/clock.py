"""`manage.py clock`: once a second, wakes idle crawls and begins due runs of schedules; once a minute, deletes data
past its retention.

Crawls do not depend on it; it makes recovery faster. Schedules do: no other process begins their runs.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from typing import Any

from django.db import Error as DatabaseError
from django.db import close_old_connections
from redis import RedisError

from crawler import clock
from crawler.accounts import idempotency
from crawler.core.errors import CrawlerError, first_line
from crawler.crawls import delete
from crawler.crawls.reconcile import reconcile
from crawler.crawls.schedules import run_due
from crawler.management.base import CrawlerCommand
from crawler.queueing import alive
from crawler.queueing.startup import wait_or_go_on
from crawler.storage import response_cache

EVERY = 1.0  # seconds
SWEEP_EVERY = 60.0  # seconds
LOG_INTERVAL_S = 60.0  # seconds between two log lines about the same outage

log = logging.getLogger(__name__)


class Command(CrawlerCommand):
    """Check the running crawls and the schedules once a second, until stopped.

    examples:
      python manage.py clock

    One clock serves an installation; bin/up starts it.

    exit codes:
      0    stopped by Ctrl-C or SIGTERM
    """

    def handle(self, *args: Any, **options: Any) -> None:
        """It reports outages itself, to the log, and survives them."""
        wait_or_go_on("The clock begins")
        end = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: end.set())
        clock = Clock()
        while not end.wait(EVERY):
            clock.tick(time.monotonic())


class Clock:
    """Survives outages of Redis and the database: logs them once a minute and continues."""

    def __init__(self) -> None:
        self._said_at: float | None = None  # None = no outage
        self._sweep_at = 0.0  # in the time of `tick`

    def tick(self, now: float) -> None:
        alive.note()
        try:
            close_old_connections()
            reconcile()
            run_due(clock.now())
            response_cache.delete_expired(clock.epoch_seconds())
            response_cache.make_room()
            idempotency.sweep(clock.now())
            self._sweep(now)
        except (CrawlerError, RedisError, DatabaseError, OSError) as error:
            self._say(error, now)
            return
        if self._said_at is not None:
            log.info("The clock continues.")
        self._said_at = None

    def _sweep(self, now: float) -> None:
        """Delete data past its retention: a part each minute, or each second while there is more."""
        if now < self._sweep_at:
            return
        moment = clock.now()
        delete.forget_expired(moment)
        self._sweep_at = now + (EVERY if delete.delete_past_retention(moment) else SWEEP_EVERY)

    def _say(self, error: Exception, now: float) -> None:
        if self._said_at is not None and now - self._said_at < LOG_INTERVAL_S:
            return
        self._said_at = now
        log.warning("The clock waits: %s", first_line(error))
