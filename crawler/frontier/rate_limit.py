"""Rate limits by fixed windows that begin with the first attempt: in Redis, shared by all processes, and in the memory
of one process for when Redis is down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from threading import Lock
from typing import NamedTuple, Protocol

from redis import Redis

from crawler.frontier import keys, scripts

MAX_COUNTERS = 10_000  # in memory


class Limit(NamedTuple):
    """One counter, and its limit."""

    name: str
    limit: int


@dataclass(frozen=True)
class LimitResult:
    """The result of an attempt."""

    wait: int  # whole seconds until the next attempt is possible; 0 = it was counted
    made: tuple[int, ...]  # attempts by now, in the order of the limits


class RateLimiter(Protocol):
    """Counts attempts."""

    def take(self, counts: Sequence[Limit]) -> LimitResult: ...

    def give_back(self, counts: Sequence[Limit]) -> None: ...


class RedisRateLimiter:
    """Each method is one atomic step, so that concurrent attempts cannot exceed the limit."""

    def __init__(self, redis: Redis, seconds: float) -> None:
        self._redis, self._seconds = redis, seconds

    def take(self, counts: Sequence[Limit]) -> LimitResult:
        limits = [count.limit for count in counts]
        answer = scripts.run(self._redis, "rate_limit_take", _keys(counts), [int(self._seconds * 1000), *limits])
        return LimitResult(ceil(answer[0] / 1000), tuple(answer[1:]))

    def give_back(self, counts: Sequence[Limit]) -> None:
        scripts.run(self._redis, "rate_limit_give_back", _keys(counts), [])


class MemoryRateLimiter:
    """The same for the threads of one process."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._counts: dict[str, tuple[int, float]] = {}  # name -> attempts, when its window ends
        self._lock = Lock()

    def take(self, counts: Sequence[Limit]) -> LimitResult:
        now = self._clock()
        with self._lock:
            self._forget(now)
            found = [self._counts.get(count.name, (0, now + self._seconds)) for count in counts]
            full = [ends - now for count, (made, ends) in zip(counts, found, strict=True) if made >= count.limit]
            if not full:
                found = [(made + 1, ends) for made, ends in found]
                self._counts.update(zip((count.name for count in counts), found, strict=True))
        return LimitResult(ceil(max(full, default=0)), tuple(made for made, _ in found))

    def give_back(self, counts: Sequence[Limit]) -> None:
        with self._lock:
            for count in counts:
                made, ends = self._counts.get(count.name, (0, 0.0))
                if made > 0:
                    self._counts[count.name] = (made - 1, ends)

    def _forget(self, now: float) -> None:
        """Drop expired counters, and the oldest if there are too many."""
        if self._counts and min(ends for _, ends in self._counts.values()) <= now:
            self._counts = {name: count for name, count in self._counts.items() if count[1] > now}
        while len(self._counts) >= MAX_COUNTERS:
            del self._counts[next(iter(self._counts))]


def _keys(counts: Sequence[Limit]) -> list[str]:
    return [keys.tries_of(count.name) for count in counts]


# Calls of the API within a minute that begins with the first of them.

WINDOW_S = 60


class CallCount(NamedTuple):
    """Calls in the current window."""

    made: int  # this one among them
    ends_in: int  # whole seconds, rounded up, until the next window


def count_call(redis: Redis, who: str) -> CallCount:
    """Count one call; `who` names the user or address that the limit applies to."""
    made, left = scripts.run(redis, "rate_limit_count", [keys.calls_of(who)], [WINDOW_S * 1000])
    return CallCount(made, max(1, ceil(left / 1000)))
