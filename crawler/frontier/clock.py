"""The clock all workers agree on: Redis's own, so that leases mean the same on every machine."""

from __future__ import annotations

from collections.abc import Callable

from redis import Redis

Clock = Callable[[], float]
"""Epoch seconds."""


def redis_clock(redis: Redis) -> Clock:
    def now() -> float:
        seconds, microseconds = redis.time()
        return seconds + microseconds / 1e6

    return now
