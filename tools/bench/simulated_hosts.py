"""Hosts that slow down, refuse and fail in the usual ways, and a crawl of them, in simulated time: for the throttle."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from crawler.core.politeness import throttle as rules
from crawler.core.politeness.throttle import Throttle, Window

REFUSED_S = 0.02  # time of a response that is a refusal


@dataclass(frozen=True)
class Response:
    seconds: float
    status: int | None = 200  # None = no response


class Host(ABC):
    """Times are seconds since the start of the crawl."""

    def __init__(self, seconds: float, seed: int = 1, spread: float = 0.1) -> None:
        self.seconds, self.random, self._spread = seconds, Random(seed), spread
        self._ends = list[float]()  # of requests that are being served

    def ask(self, now: float) -> Response:
        while self._ends and self._ends[0] <= now:
            heappop(self._ends)
        response = self.respond(now, len(self._ends))
        if response.status == 200:
            heappush(self._ends, now + response.seconds)
        return response

    @abstractmethod
    def respond(self, now: float, busy: int) -> Response:
        """`busy`: requests that are being served."""

    def about(self, seconds: float) -> Response:
        """A response that takes about so long."""
        return Response(seconds * math.exp(self.random.gauss(0, self._spread)))


class Steady(Host):
    def respond(self, now: float, busy: int) -> Response:
        return self.about(self.seconds)


class Queued(Host):
    """M/M/c: so many processes serve one request each, in a time that varies exponentially; others queue."""

    NETWORK_S = 0.03

    def __init__(self, processes: int, seconds: float, seed: int = 1) -> None:
        super().__init__(seconds, seed)
        self._free_at = [0.0] * processes

    def respond(self, now: float, busy: int) -> Response:
        first = min(range(len(self._free_at)), key=self._free_at.__getitem__)
        begin = max(now + self.NETWORK_S / 2, self._free_at[first])
        self._free_at[first] = begin + self.random.expovariate(1 / self.seconds)
        return Response(self._free_at[first] + self.NETWORK_S / 2 - now)


class Cliff(Host):
    """Beyond so many requests at a time each takes longer by the square: it does less, the more it is asked."""

    def __init__(self, most: int, seconds: float, seed: int = 1) -> None:
        super().__init__(seconds, seed)
        self._most = most

    def respond(self, now: float, busy: int) -> Response:
        return self.about(self.seconds * max(1.0, (busy + 1) / self._most) ** 2)


class RateLimited(Host):
    """429 above so many requests a second, of which so many may come at once."""

    def __init__(self, rate: float, seconds: float, seed: int = 1) -> None:
        super().__init__(seconds, seed)
        self._rate, self._allowed, self._at = rate, rate, 0.0

    def respond(self, now: float, busy: int) -> Response:
        self._allowed = min(self._rate, self._allowed + (now - self._at) * self._rate)
        self._at = now
        if self._allowed < 1:
            return Response(REFUSED_S, 429)
        self._allowed -= 1
        return self.about(self.seconds)


class Overloaded(Host):
    """503 beyond so many requests at a time."""

    def __init__(self, most: int, seconds: float, seed: int = 1) -> None:
        super().__init__(seconds, seed)
        self._most = most

    def respond(self, now: float, busy: int) -> Response:
        return self.about(self.seconds) if busy < self._most else Response(REFUSED_S, 503)


class ColdCache(Host):
    """Ten times as slow at first."""

    PAGES = 50

    def __init__(self, seconds: float, seed: int = 1) -> None:
        super().__init__(seconds, seed)
        self._asked = 0

    def respond(self, now: float, busy: int) -> Response:
        self._asked += 1
        return self.about(self.seconds * (1 + 9 * math.exp(-self._asked / self.PAGES)))


class Pausing(Host):
    """Responds to nothing for a while now and then, as in a garbage collection."""

    def __init__(self, seconds: float, every: float, pause: float, seed: int = 1) -> None:
        super().__init__(seconds, seed)
        self._every, self._pause = every, pause

    def respond(self, now: float, busy: int) -> Response:
        takes = self.about(self.seconds).seconds
        pauses = math.floor((now + takes) / self._every)  # the last one began then
        begin = pauses * self._every
        if pauses == 0 or now >= begin + self._pause:
            return Response(takes)
        return Response(begin + self._pause - now + (takes if now >= begin else now + takes - begin))


class Falling(Host):
    """Down for a while: fails after `fails_s`."""

    def __init__(
        self, seconds: float, down: tuple[float, float], fails_s: float = 0.01, status: int | None = None
    ) -> None:
        super().__init__(seconds)
        self._down, self._failure = down, Response(fails_s, status)

    def respond(self, now: float, busy: int) -> Response:
        begin, end = self._down
        return self._failure if begin <= now < end else self.about(self.seconds)


class Burdened(Host):
    """Ten times as slow for a while, by others."""

    def __init__(self, seconds: float, burdened: tuple[float, float]) -> None:
        super().__init__(seconds)
        self._burdened = burdened

    def respond(self, now: float, busy: int) -> Response:
        begin, end = self._burdened
        return self.about(self.seconds * (10 if begin <= now < end else 1))


class Mixed(Host):
    """Half of its sections, of 200 pages each, are ten times as slow as the others."""

    SECTION = 200

    def __init__(self, seconds: float, seed: int = 1) -> None:
        super().__init__(seconds, seed, spread=0.3)
        self._asked = 0

    def respond(self, now: float, busy: int) -> Response:
        self._asked += 1
        return self.about(self.seconds * (10 if self._asked // self.SECTION % 2 else 1))


@dataclass(frozen=True)
class Scene:
    """A host, and the best that can be done with it. `recovers_at`: it is well again from then on."""

    host: Callable[[], Host]
    delays: tuple[float, ...] = (0.0,)  # that fixed settings may have, for the best of them
    recovers_at: float | None = None


DOWN = (20.0, 40.0)

SCENES: Mapping[str, Scene] = {
    "steady, 20 ms": Scene(lambda: Steady(0.02)),
    "steady, 200 ms": Scene(lambda: Steady(0.2)),
    "steady, 1 s": Scene(lambda: Steady(1.0)),
    "steady, 2 s": Scene(lambda: Steady(2.0)),
    "steady, 5 s": Scene(lambda: Steady(5.0)),
    "pages of very different times": Scene(lambda: Steady(0.5, spread=0.8)),
    "M/M/1, 100 ms": Scene(lambda: Queued(1, 0.1)),
    "M/M/1, 500 ms": Scene(lambda: Queued(1, 0.5)),
    "M/M/2, 300 ms": Scene(lambda: Queued(2, 0.3)),
    "M/M/8, 300 ms": Scene(lambda: Queued(8, 0.3)),
    "M/M/8, 2 s": Scene(lambda: Queued(8, 2.0)),
    "cliff at 1, 500 ms": Scene(lambda: Cliff(1, 0.5)),
    "cliff at 2, 200 ms": Scene(lambda: Cliff(2, 0.2)),
    "cliff at 6, 200 ms": Scene(lambda: Cliff(6, 0.2)),
    "cliff at 2, 2 s": Scene(lambda: Cliff(2, 2.0)),
    "429 above 10 a second, 20 ms": Scene(lambda: RateLimited(10, 0.02), delays=(0.0, 0.1)),
    "429 above 2 a second, 100 ms": Scene(lambda: RateLimited(2, 0.1), delays=(0.0, 0.5)),
    "429 above 10 a second, 500 ms": Scene(lambda: RateLimited(10, 0.5), delays=(0.0, 0.1)),
    "503 above 2 at a time": Scene(lambda: Overloaded(2, 0.3)),
    "503 above 6 at a time": Scene(lambda: Overloaded(6, 1.0)),
    "cold cache": Scene(lambda: ColdCache(0.2)),
    "pauses of 1 s": Scene(lambda: Pausing(0.1, 10, 1)),
    "pauses of 3 s": Scene(lambda: Pausing(0.5, 20, 3)),
    "falls and rises: refuses": Scene(lambda: Falling(0.2, DOWN), recovers_at=DOWN[1]),
    "falls and rises: 503": Scene(lambda: Falling(0.2, DOWN, 0.05, 503), recovers_at=DOWN[1]),
    "falls and rises: timeouts": Scene(lambda: Falling(2.0, DOWN, 5.0), recovers_at=DOWN[1]),
    "burdened by others for 20 s": Scene(lambda: Burdened(0.2, DOWN), recovers_at=DOWN[1]),
    "slow and fast sections": Scene(lambda: Mixed(0.1)),
}


class Policy(Protocol):
    """How many connections a crawl uses, and its delay."""

    def limit(self, now: float) -> tuple[int, float]: ...

    def note(self, response: Response, in_use: int, now: float) -> None: ...


@dataclass
class Fixed:
    connections: int
    delay: float = 0.0

    def limit(self, now: float) -> tuple[int, float]:
        return self.connections, self.delay

    def note(self, response: Response, in_use: int, now: float) -> None:
        pass


class Throttled:
    """The throttle, with so many connections at most; `frontier.host_throttle` does the same with Redis."""

    EPOCH_S = 1e6  # of the crawl's start: 0 is long ago
    MOMENT_S = 1e-6  # in which a request is sent after a change

    def __init__(self, most: int) -> None:
        self._most, self.throttle, self._window = most, Throttle(), Window()

    def limit(self, now: float) -> tuple[int, float]:
        return self.throttle.allowed(self._most), self.throttle.delay

    def note(self, response: Response, in_use: int, now: float) -> None:
        now += self.EPOCH_S
        if response.status != 200:
            if rules.counts(self.throttle, now - response.seconds + self.MOMENT_S):
                self.throttle = rules.after_failure(self.throttle, self._most, response.status, now)
            return
        began = now - response.seconds + self.MOMENT_S
        if self._window.since < self.throttle.changed_at:
            self._window = Window(self.throttle.changed_at)
        if began >= self.throttle.changed_at:
            self._window = self._window.plus(response.seconds)
        self.throttle, is_used_up = rules.after_report(self.throttle, self._window, in_use, began, now)
        if is_used_up:
            self._window = Window(now)


@dataclass
class Crawl:
    """What came of it."""

    pages: list[float] = field(default_factory=list)  # when they were fetched
    failures: int = 0
    limits: list[tuple[float, int, float]] = field(default_factory=list)  # moment, connections, delay

    def rate(self, begin: float, end: float) -> float:
        """Pages a second."""
        return sum(begin <= at < end for at in self.pages) / (end - begin)


def crawl(host: Host, policy: Policy, seconds: float) -> Crawl:
    """A crawl that always has pages: a connection is used again as soon as it has its response. The first page is
    requested alone."""
    done, under_way, sent_at, now = Crawl(), list[tuple[float, float, int | None]](), -math.inf, 0.0
    while True:
        connections, delay = policy.limit(now)
        connections = connections if done.pages else 1
        while len(under_way) < connections and now >= sent_at + delay:
            response, sent_at = host.ask(now), now
            heappush(under_way, (now + response.seconds, response.seconds, response.status))
        next_at = sent_at + delay if len(under_way) < connections else math.inf
        if not under_way or next_at < under_way[0][0]:
            now = next_at
            continue
        now, took, status = heappop(under_way)
        if now >= seconds:
            return done
        if status == 200:
            done.pages.append(now)
        else:
            done.failures += 1
        policy.note(Response(took, status), len(under_way) + 1, now)
        done.limits.append((now, *policy.limit(now)))


def best_fixed(scene: Scene, most: int, seconds: float) -> Crawl:
    """The fixed setting with the most pages."""
    settings = [Fixed(number, delay) for delay in scene.delays for number in rules.LEVELS if number <= most]
    return max((crawl(scene.host(), setting, seconds) for setting in settings), key=lambda done: len(done.pages))
