"""Outlasts a Redis that is away for a while: it is being restarted, or is still reading its data."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisSilent

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds
PAUSE = 0.5  # seconds between two tries

Answer = TypeVar("Answer")


def patiently(
    act: Callable[[], Answer],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """What `act`, which must be safe to repeat, answers; the last error once Redis has been away for PATIENCE."""
    until = clock() + PATIENCE
    while True:
        try:
            return act()
        except (RedisAway, RedisSilent) as error:
            if clock() >= until:
                raise
            log.warning("Redis is away (%s); trying again", error)
            sleep(PAUSE)
