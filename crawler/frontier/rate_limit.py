"""Rate limiters with fixed windows that begin with the first attempt: in Redis, shared by all processes, and in the
memory of one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import ceil
from threading import Lock
from typing import NamedTuple, Protocol

import msgspec
from redis import Redis

from crawler.frontier import keys, scripts

MAX_COUNTERS = 10_000  # in memory


class RateLimit(msgspec.Struct, frozen=True):
    """A kind of attempts that is limited."""

    window_s: float
    key_of: Callable[[str], str]  # the key in Redis of a counter's name


FAILED_LOGINS = RateLimit(900, keys.tries_of)
API_CALLS = RateLimit(60, keys.calls_of)


class Limit(NamedTuple):
    """One counter, and its limit."""

    name: str
    limit: int


class LimitResult(msgspec.Struct, frozen=True):
    """The result of an attempt."""

    wait: int  # whole seconds until the next attempt is possible; 0 = it was counted
    ends_in: int  # whole seconds until the last of the windows ends
    made: tuple[int, ...]  # attempts by now, in the order of the limits


class RateLimiter(Protocol):
    """Counts attempts."""

    def take(self, counts: Sequence[Limit]) -> LimitResult: ...

    def give_back(self, counts: Sequence[Limit]) -> None: ...


class RedisRateLimiter:
    """Each method is one atomic step, so that concurrent attempts cannot exceed the limit."""

    def __init__(self, redis: Redis, rate: RateLimit) -> None:
        self._redis, self._rate = redis, rate

    def take(self, counts: Sequence[Limit]) -> LimitResult:
        args = [int(self._rate.window_s * 1000), *(count.limit for count in counts)]
        wait, ends_in, *made = scripts.run(self._redis, "rate_limit_take", self._keys(counts), args)
        return LimitResult(ceil(wait / 1000), max(1, ceil(ends_in / 1000)), tuple(made))

    def give_back(self, counts: Sequence[Limit]) -> None:
        scripts.run(self._redis, "rate_limit_give_back", self._keys(counts), [])

    def _keys(self, counts: Sequence[Limit]) -> list[str]:
        return [self._rate.key_of(count.name) for count in counts]


class MemoryRateLimiter:
    """The same for the threads of one process."""

    def __init__(self, rate: RateLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = rate.window_s, clock
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
        ends_in = min(
            self._seconds, max((ends - now for _, ends in found), default=self._seconds)
        )  # floats are inexact
        return LimitResult(ceil(max(full, default=0)), max(1, ceil(ends_in)), tuple(made for made, _ in found))

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
