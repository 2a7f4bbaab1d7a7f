"""The one clock of all processes: Redis's, so that a moment which one machine writes down means the same on the others,
however wrong their own clocks are.

Redis is asked every few seconds at most; in between this machine's monotonic clock counts on, so that asking for the
time costs nothing. While Redis is away the last reading holds, and before the first one this machine's own clock does.
There is no lock: threads that come at the same moment may each read, and a forked process goes on with its parent's
reading.
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

log = logging.getLogger(__name__)

Clock = Callable[[], float]
"""Epoch seconds."""

READ_EVERY_S = 5.0
READINGS = 3  # at most, of which the quickest counts: a reading is wrong by up to half of the time it took
QUICK_S = 0.005  # a reading within this is right enough to need no second
TIMEOUT_S = 2.0  # of one reading: a Redis that hangs must not hang whoever asks for the time


def now() -> datetime:
    """The moment, in UTC."""
    return datetime.fromtimestamp(epoch_seconds(), UTC)


def epoch_seconds() -> float:
    """The same as a number."""
    return shared.epoch_seconds()


class SharedClock:
    """Another clock, `there`, as read from time to time. `monotonic` and `own` are this machine's."""

    def __init__(self, there: Clock, monotonic: Clock = time.monotonic, own: Clock = time.time) -> None:
        self._there, self._monotonic, self._own = there, monotonic, own
        self._ahead: float | None = None  # of the monotonic clock, in seconds
        self._is_read = False  # else `_ahead` is by our own clock
        self._asked_at = 0.0

    def epoch_seconds(self) -> float:
        moment = self._monotonic()
        ahead = self._ahead
        if ahead is None or moment - self._asked_at >= READ_EVERY_S:
            self._asked_at = moment  # first, so that other threads need not wait for the answer
            ahead = self.read()
        return self._monotonic() + ahead

    def read(self) -> float:
        """Ask now; seconds by which that clock is ahead of the monotonic one."""
        try:
            took, ahead = self._best_reading()
        except RedisError:
            if self._ahead is None:
                self._ahead = self._own() - self._monotonic()
            return self._ahead
        known, self._is_read = self._ahead if self._is_read else None, True
        if known is not None and abs(ahead - known) <= took / 2:  # the answer says no more exactly what the time is
            return known
        if known is not None and abs(ahead - known) > MAX_SKEW_S:
            log.warning("Redis's clock was moved by %+.1f s, or another Redis answers", ahead - known)
        self._ahead = ahead
        return ahead

    def _best_reading(self) -> tuple[float, float]:
        """As `_ahead`. A busy machine lets now and then one wait that has its answer already, and by a clock that is
        late for it a worker would come too soon behind another one."""
        best = _ahead(self._there, self._monotonic)
        for _ in range(READINGS - 1):
            if best[0] <= QUICK_S:
                break
            best = min(best, _ahead(self._there, self._monotonic))
        return best


def measure(database: BaseDatabaseWrapper) -> Skew:
    """By how much this machine's own clock differs from Redis's and the database's, read now. SQLite has no clock but
    that of whoever opens it."""
    has_clock = database.vendor == "postgresql"
    return Skew(
        redis=_own_ahead_of(redis_time), database=_own_ahead_of(partial(_time_of, database)) if has_clock else None
    )


def _own_ahead_of(there: Clock) -> float | None:
    """None when it does not answer."""
    try:
        there()  # so that the time it takes to connect is not in what follows
        return -_ahead(there, time.time)[1]
    except (RedisError, DatabaseError):
        return None


def _time_of(database: BaseDatabaseWrapper) -> float:
    with database.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        return float(cursor.fetchone()[0])


def _ahead(there: Clock, here: Clock) -> tuple[float, float]:
    """Seconds the answer took, and by how much that clock is ahead of ours, give or take half of them."""
    asked = here()
    moment = there()
    answered = here()
    return answered - asked, moment - (asked + answered) / 2


def redis_time() -> float:
    seconds, microseconds = _connect(conf.redis_url()).time()
    return seconds + microseconds / 1e6


@cache
def _connect(url: str) -> Redis:
    again = Retry(NoBackoff(), 1)  # a connection that was closed while it was not used
    return Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=again)


shared = SharedClock(redis_time)
