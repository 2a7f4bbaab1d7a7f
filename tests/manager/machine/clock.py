"""One clock for everything: Redis's keys, leases, back-offs and watches. It moves only when told to."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from redis import Redis

from crawler.frontier.keys import RECONCILED
from crawler.frontier.leases import RENEW_INTERVAL_S, Heartbeat
from crawler.http.event_loop import EventLoop

SLOWER = 1000  # times; what lives for less than a second must not die of how slow the machine is

_PASS = """
-- What Redis itself, and RQ's registries of started jobs, would forget in so many milliseconds.
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left, span = redis.call('PTTL', key), tonumber(ARGV[1])
  if key == ARGV[2] then span = span * ARGV[3] end
  if left > 0 then
    if left <= span then redis.call('DEL', key) else redis.call('PEXPIRE', key, left - span) end
  end
end
for _, key in ipairs(redis.call('KEYS', 'rq:wip:*')) do
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(1', '+inf')) do
    redis.call('ZINCRBY', key, -ARGV[1] / 1000, member)
  end
end
"""


class Clock:
    """Can stand in for the module `time`. It begins at the real time, by which RQ goes."""

    def __init__(self, redis: Redis) -> None:
        self._redis, self._pass = redis, redis.register_script(_PASS)
        self.now = float(int(time.time()) + 1)
        self.pulses: list[Pulse] = []

    def time(self) -> float:
        return self.now

    monotonic = time

    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    def sleep(self, seconds: float) -> None:
        """Time passes: keys expire, and whoever is at work shows that it is alive."""
        until = self.now + seconds
        while self.now < until:
            step = min(until - self.now, RENEW_INTERVAL_S) if self.pulses else until - self.now
            self.now += step
            self.forget(step)
            for pulse in list(self.pulses):
                pulse.beat()

    def forget(self, seconds: float) -> None:
        """Redis ages by so much."""
        self._pass(args=[int(seconds * 1000), RECONCILED, SLOWER])


class Pulse(Heartbeat):
    """A heartbeat that beats when the machine's clock has moved by its interval, instead of in a thread."""

    clock: Clock

    def __init__(self, renew: Callable[[], bool]) -> None:
        super().__init__(renew, now=self.clock.monotonic)

    def beat(self) -> None:
        self._stop = _Once()
        self._run()

    def __enter__(self) -> Self:
        self.clock.pulses.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clock.pulses.remove(self)


class OneAfterAnother(EventLoop):
    """A loop whose tasks do all their work when they are given, so that a batch of several slices goes the same way
    each time; whoever waits for something lets the time pass."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock.time)
        self._sleep, self._has_news = clock.sleep, False

    def spawn(self, work: Callable[[], None]) -> None:  # type: ignore[override]  # there is no task to give back
        work()
        self._has_news = True

    def wake(self) -> None:
        self._has_news = True

    def run(self, seconds: float) -> None:
        if not self._has_news:
            self._sleep(seconds)
        self._has_news = False


class _Once(threading.Event):
    """Lets a loop that waits for its end go round once."""

    def __init__(self) -> None:
        super().__init__()
        self._rounds = 1

    def wait(self, timeout: float | None = None) -> bool:
        self._rounds -= 1
        return self._rounds < 0
