"""Retries while Redis is down (restarting, or loading its data) or full."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import connection
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisSilent

from crawler.core.installation.backpressure import Shortage
from crawler.crawls.holds import hold_all, shortage_of

log = logging.getLogger(__name__)

MAX_WAIT_S = 60.0
RETRY_INTERVAL_S = 0.5
LOG_INTERVAL_S = 5.0  # between two lines of the log, and between two attempts to hold the crawls

Answer = TypeVar("Answer")


def retry_on_outage(
    act: Callable[[], Answer],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    hold: Callable[[Shortage], None] = hold_all,
) -> Answer:
    """Call `act`, which must be idempotent, until it succeeds; the last error once Redis was down or full for
    MAX_WAIT_S. While it is full, crawls are held."""
    began, said_at = clock(), float("-inf")
    while True:
        try:
            return act()
        except RedisError as error:
            short = shortage_of(error)
            now = clock()
            if (short is None and not isinstance(error, RedisAway | RedisSilent)) or now >= began + MAX_WAIT_S:
                raise
            if now - said_at >= LOG_INTERVAL_S:
                log.warning("Redis is away or full (%s); trying again", error)
                _held(short, hold)
                said_at = now
            sleep(RETRY_INTERVAL_S)


def _held(short: Shortage | None, hold: Callable[[Shortage], None]) -> None:
    if short is None:
        return
    is_new = connection.connection is None
    hold(short)
    if is_new:
        connection.close()  # a fetching thread has no connection of its own
