"""The clock all workers agree on: Redis's own, so that leases and delays mean the same on every machine."""

from __future__ import annotations

import time
from collections.abc import Callable

from redis import Redis

Clock = Callable[[], float]
"""Epoch seconds."""


def redis_clock(redis: Redis) -> Clock:
    def now() -> float:
        seconds, microseconds = redis.time()
        return seconds + microseconds / 1e6

    return now


def steady_clock(redis: Redis) -> Clock:
    """The same, asked for once and then kept by this machine's own clock: for some minutes, and for whoever asks often.
    Of a few questions the one answered quickest is the most exact."""
    ahead = min(_ahead(redis_clock(redis)) for _ in range(3))[1]
    return lambda: time.monotonic() + ahead


def _ahead(there: Clock) -> tuple[float, float]:
    """Seconds the answer took, and by how much that clock is ahead of ours."""
    asked = time.monotonic()
    moment = there()
    answered = time.monotonic()
    return answered - asked, moment - (asked + answered) / 2
