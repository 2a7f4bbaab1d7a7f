"""How long ticks take, over all crawls: a histogram in one hash, moved by each tick in the step that notes its end."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline

from crawler.frontier import keys

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds; a tick hands over after ten


@dataclass(frozen=True)
class TickTimes:
    """Since Redis was emptied last."""

    last: float  # seconds
    total: float  # seconds
    buckets: tuple[int, ...]  # ticks that took at most each of BOUNDS and longer than the one before; last, the others

    @property
    def count(self) -> int:
        return sum(self.buckets)


def note(pipe: Pipeline, seconds: float) -> None:
    """Add one tick to a step that is about to be done."""
    pipe.hincrby(keys.TICKS, f"bucket:{bisect_left(BOUNDS, seconds)}", 1)
    pipe.hincrbyfloat(keys.TICKS, "total", round(seconds, 6))
    pipe.hset(keys.TICKS, "last", f"{seconds:.6f}")


def read(redis: Redis) -> TickTimes:
    fields = cast(dict[bytes, Any], redis.hgetall(keys.TICKS))
    buckets = tuple(int(fields.get(f"bucket:{place}".encode(), 0)) for place in range(len(BOUNDS) + 1))
    return TickTimes(float(fields.get(b"last", 0)), float(fields.get(b"total", 0)), buckets)
