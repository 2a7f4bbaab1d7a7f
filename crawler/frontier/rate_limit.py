"""Counts of tries within a while that begins with the first of them: in Redis, which all processes share, and a twin in
the memory of one process, for when Redis is away."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from threading import Lock
from typing import NamedTuple, Protocol

from redis import Redis

from crawler.frontier import keys, scripts

REMEMBERED = 10_000  # counts in memory, at most


class Count(NamedTuple):
    """One count, and how much it holds."""

    name: str
    limit: int


@dataclass(frozen=True)
class Counted:
    """What came of a try."""

    wait: int  # whole seconds until there is room; 0 = it was counted
    made: tuple[int, ...]  # by now, in the order of the counts


class Counts(Protocol):
    """Where tries are counted."""

    def take(self, counts: Sequence[Count]) -> Counted: ...

    def give_back(self, counts: Sequence[Count]) -> None: ...


class InRedis:
    """One step each, so that of many tries at one moment no more get through than there is room for."""

    def __init__(self, redis: Redis, seconds: float) -> None:
        self._redis, self._seconds = redis, seconds

    def take(self, counts: Sequence[Count]) -> Counted:
        limits = [count.limit for count in counts]
        answer = scripts.run(self._redis, "attempt", _keys(counts), [int(self._seconds * 1000), *limits])
        return Counted(ceil(answer[0] / 1000), tuple(answer[1:]))

    def give_back(self, counts: Sequence[Count]) -> None:
        scripts.run(self._redis, "attempt_back", _keys(counts), [])


class InMemory:
    """The same for the threads of one process."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._counts: dict[str, tuple[int, float]] = {}  # name -> tries, when it ends
        self._lock = Lock()

    def take(self, counts: Sequence[Count]) -> Counted:
        now = self._clock()
        with self._lock:
            self._forget(now)
            found = [self._counts.get(count.name, (0, now + self._seconds)) for count in counts]
            full = [ends - now for count, (made, ends) in zip(counts, found, strict=True) if made >= count.limit]
            if not full:
                found = [(made + 1, ends) for made, ends in found]
                self._counts.update(zip((count.name for count in counts), found, strict=True))
        return Counted(ceil(max(full, default=0)), tuple(made for made, _ in found))

    def give_back(self, counts: Sequence[Count]) -> None:
        with self._lock:
            for count in counts:
                made, ends = self._counts.get(count.name, (0, 0.0))
                if made > 0:
                    self._counts[count.name] = (made - 1, ends)

    def _forget(self, now: float) -> None:
        """Those that have ended; of too many the ones that end first, too."""
        if self._counts and min(ends for _, ends in self._counts.values()) <= now:
            self._counts = {name: count for name, count in self._counts.items() if count[1] > now}
        while len(self._counts) >= REMEMBERED:
            del self._counts[next(iter(self._counts))]


def _keys(counts: Sequence[Count]) -> list[str]:
    return [keys.tries_of(count.name) for count in counts]


# How many calls of the API somebody made within the minute that began with the first of them.

WINDOW = 60  # seconds


class Calls(NamedTuple):
    """What was counted."""

    made: int  # this one among them
    ends_in: int  # whole seconds, rounded up, until the count begins anew


def count_call(redis: Redis, who: str) -> Calls:
    """Count one call; `who` is whoever shares the limit."""
    made, left = scripts.run(redis, "call", [keys.calls_of(who)], [WINDOW * 1000])
    return Calls(made, max(1, ceil(left / 1000)))
