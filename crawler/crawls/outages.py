"""Outlasts a Redis that is away for a while, because it is being restarted or is still reading its data, and one that
takes nothing in, because it is full."""

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

PATIENCE = 60.0  # seconds
PAUSE = 0.5  # seconds between two tries
SAID_EVERY = 5.0  # seconds between two lines of the log, and between two looks at the crawls

Answer = TypeVar("Answer")


def patiently(
    act: Callable[[], Answer],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    hold: Callable[[Shortage], None] = hold_all,
) -> Answer:
    """What `act`, which must be safe to repeat, answers; the last error once Redis has been away for PATIENCE, or full.
    While it is full, crawls are held."""
    began, said_at = clock(), float("-inf")
    while True:
        try:
            return act()
        except RedisError as error:
            short = shortage_of(error)
            now = clock()
            if (short is None and not isinstance(error, RedisAway | RedisSilent)) or now >= began + PATIENCE:
                raise
            if now - said_at >= SAID_EVERY:
                log.warning("Redis is away or full (%s); trying again", error)
                _held(short, hold)
                said_at = now
            sleep(PAUSE)


def _held(short: Shortage | None, hold: Callable[[Shortage], None]) -> None:
    if short is None:
        return
    is_new = connection.connection is None
    hold(short)
    if is_new:
        connection.close()  # a thread that asks for pages has none of its own
