"""The clock of all processes: Redis's, so that times written by one machine are valid on the others, even if their own
clocks are wrong.

Redis is read every few seconds at most; in between the monotonic clock of this machine is used. During an outage of
Redis the last reading stays valid; before the first one this machine's own clock is used. There is no lock: concurrent
threads may each read, and a forked process uses its parent's reading.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial

from django.db import Error as DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler import conf
from crawler.core.installation.deployment import MAX_SKEW_S, Skew
from crawler.redis_client import RedisClient

log = logging.getLogger(__name__)

Clock = Callable[[], float]
"""Epoch seconds."""

READ_EVERY_S = 5.0
READINGS = 3  # at most; the fastest counts: the error of a reading is up to half of its duration
QUICK_S = 0.005  # a reading as fast as this is exact enough
TIMEOUT_S = 2.0  # of one reading: a Redis that hangs must not block the caller


def now() -> datetime:
    """The current time in UTC."""
    return datetime.fromtimestamp(epoch_seconds(), UTC)


def epoch_seconds() -> float:
    """The current time in epoch seconds."""
    return shared.epoch_seconds()


class SharedClock:
    """The remote clock `there`, read from time to time. `monotonic` and `own` are clocks of this machine."""

    def __init__(self, there: Clock, monotonic: Clock = time.monotonic, own: Clock = time.time) -> None:
        self._there, self._monotonic, self._own = there, monotonic, own
        self._ahead: float | None = None  # seconds ahead of the monotonic clock
        self._is_read = False  # False: `_ahead` is of our own clock
        self._asked_at = 0.0

    def epoch_seconds(self) -> float:
        moment = self._monotonic()
        ahead = self._ahead
        if ahead is None or moment - self._asked_at >= READ_EVERY_S:
            self._asked_at = moment  # first, so that other threads do not read too
            ahead = self.read()
        return self._monotonic() + ahead

    def read(self) -> float:
        """Read the clock now; return by how many seconds it is ahead of the monotonic one."""
        try:
            took, ahead = self._best_reading()
        except RedisError:
            if self._ahead is None:
                self._ahead = self._own() - self._monotonic()
            return self._ahead
        known, self._is_read = self._ahead if self._is_read else None, True
        if known is not None and abs(ahead - known) <= took / 2:  # within the error of the reading
            return known
        if known is not None and abs(ahead - known) > MAX_SKEW_S:
            log.warning("Redis's clock was moved by %+.1f s, or another Redis answers", ahead - known)
        self._ahead = ahead
        return ahead

    def _best_reading(self) -> tuple[float, float]:
        """As `_ahead`. On a busy machine a reading may be delayed, and with its inexact time a worker would request a
        host too soon after another."""
        best = _ahead(self._there, self._monotonic)
        for _ in range(READINGS - 1):
            if best[0] <= QUICK_S:
                break
            best = min(best, _ahead(self._there, self._monotonic))
        return best


def measure(database: BaseDatabaseWrapper) -> Skew:
    """By how much this machine's clock differs from the clocks of Redis and the database, read now. SQLite has no clock
    of its own."""
    has_clock = database.vendor == "postgresql"
    return Skew(
        redis=_own_ahead_of(redis_time, connect=redis_time),
        database=_own_ahead_of(partial(_time_of, database), connect=database.ensure_connection) if has_clock else None,
    )


def _own_ahead_of(there: Clock, *, connect: Callable[[], object]) -> float | None:
    """None if it does not answer. `connect` comes first, so that the measurement does not include it."""
    try:
        connect()
        return -_ahead(there, time.time)[1]
    except (RedisError, DatabaseError):
        return None


def _time_of(database: BaseDatabaseWrapper) -> float:
    with database.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        return float(cursor.fetchone()[0])


def _ahead(there: Clock, here: Clock) -> tuple[float, float]:
    """Duration of the reading in seconds, and by how much that clock is ahead of ours, with an error of half of it."""
    asked = here()
    moment = there()
    answered = here()
    return answered - asked, moment - (asked + answered) / 2


def redis_time() -> float:
    seconds, microseconds = _connect(conf.redis_url()).time()
    return seconds + microseconds / 1e6


@cache
def _connect(url: str) -> Redis:
    again = Retry(NoBackoff(), 1)  # a connection that was closed while idle
    return RedisClient.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=again)


shared = SharedClock(redis_time)
