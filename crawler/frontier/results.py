"""The results list, the dirty mark and the tick's lock: how wake-ups are never lost (rules R3 and R5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import cast

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import WatchError

from crawler.core.installation.deployment import TOLERATED_S
from crawler.frontier import metrics, scripts
from crawler.frontier.keys import CrawlKeys

FRESH_SECONDS = 5.0  # a tick is believed to be on its way for this long without looking for its job
FEW, MUCH = 8, 4 * 1024 * 1024  # reports; where these have more bytes no others are read with them
LOCK_SECONDS = 12.0  # a tick that died keeps others out no longer than this


class Released(Enum):
    """What came of giving the lock back."""

    YES = 1  # nobody asked for another tick
    DIRTY = 0  # somebody did: the lock is kept, drain again
    LOST = 2  # the lock ran out and another tick may be at work


@dataclass(frozen=True)
class Mark:
    """The crawl is dirty, and the tick with this job id was sent at this time."""

    job: str
    sent_at: float

    @classmethod
    def read(cls, raw: bytes | None) -> Mark | None:
        if raw is None:
            return None
        job, sent_at = raw.decode().split(" ")
        return cls(job, float(sent_at))

    def is_fresh(self, now: float) -> bool:
        """Whether its tick may be believed to be on its way. One from the future is none: the clock was set back."""
        return abs(now - self.sent_at) <= FRESH_SECONDS


@dataclass(frozen=True)
class Tick:
    """The end of a tick."""

    at: float  # epoch seconds
    said: str

    @classmethod
    def read(cls, raw: bytes | None) -> Tick | None:
        if raw is None:
            return None
        at, _, said = raw.decode().partition(" ")
        return cls(float(at), said)

    def is_to_come(self, now: float) -> bool:
        """Whether the clock was set back since, as when another Redis took over: then moments in Redis, the ends of
        leases and delays among them, may be as far off as that."""
        return self.at - now > TOLERATED_S


class Results:
    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._keys = redis, keys

    def leave(
        self,
        reports: Sequence[bytes],
        now: float,
        *,
        tick_job: str,
        is_coming: Callable[[Mark], bool],
        send_tick: Callable[[Pipeline], None],
        is_urgent: bool = True,
    ) -> bool:
        """Leave reports (or none, to ask for a tick only), mark the crawl dirty and send a tick, in one atomic step.
        What is not urgent is left for the next tick that comes.

        No tick is sent when one is on its way: its mark is younger than FRESH_SECONDS, or `is_coming(mark)` finds its
        job in the queue. Answers whether a tick was sent. Watching the mark closes the race with a tick that clears
        it between our look and our step: then the step is repeated.
        """
        keys = self._keys
        while True:
            with self._redis.pipeline() as pipe:
                pipe.watch(keys.mark)  # type: ignore[no-untyped-call]  # redis-py gives it no types
                mark = Mark.read(cast(bytes | None, pipe.get(keys.mark)))
                send = is_urgent and (mark is None or not (mark.is_fresh(now) or is_coming(mark)))
                pipe.multi()
                if reports:
                    pipe.rpush(keys.results, *reports)
                if send:
                    pipe.set(keys.mark, f"{tick_job} {now}")
                    send_tick(pipe)
                try:
                    pipe.execute()
                except WatchError:
                    continue
                return send

    def mark(self) -> Mark | None:
        return Mark.read(cast(bytes | None, self._redis.get(self._keys.mark)))

    def clear_mark(self) -> None:
        """To be done before the results are read: whoever leaves a result later sets it again."""
        self._redis.delete(self._keys.mark)

    def read(self, at_most: int) -> list[bytes]:
        """The oldest reports, a few only where they are large. They stay on the list until they are acknowledged."""
        reports = cast(list[bytes], self._redis.lrange(self._keys.results, 0, min(FEW, at_most) - 1))
        if len(reports) < FEW or sum(map(len, reports)) > MUCH:
            return reports
        return reports + cast(list[bytes], self._redis.lrange(self._keys.results, FEW, at_most - 1))

    def acknowledge(self, reports: Sequence[bytes]) -> None:
        """Forget these reports, once what they say is committed. Each is named, not counted: a tick that was held up
        past its lock must not remove what another tick has not read yet."""
        with self._redis.pipeline(transaction=False) as pipe:  # a Redis that is full refuses transactions
            for report in reports:
                pipe.lrem(self._keys.results, 1, report)  # type: ignore[arg-type]  # redis-py says str, takes bytes
            pipe.execute()

    def note_tick(self, now: float, said: str, seconds: float = 0.0) -> None:
        """Remember, for people, when the last tick ended, what it did and how long it took."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.set(self._keys.tick, f"{now} {said}")
            metrics.note(pipe, seconds)
            pipe.execute()

    def last_tick(self) -> Tick | None:
        return Tick.read(cast(bytes | None, self._redis.get(self._keys.tick)))

    def lock(self, token: str, seconds: float = LOCK_SECONDS) -> bool:
        """Become, or stay, the one tick at work, for so long unless it is called again."""
        answer = scripts.run(self._redis, "hold", [self._keys.lock], [token, int(seconds * 1000)])
        return bool(answer == 1)

    def release(self, token: str) -> Released:
        return Released(scripts.run(self._redis, "release", [self._keys.lock, self._keys.mark], [token]))

    def drop_lock(self, token: str) -> None:
        scripts.run(self._redis, "drop", [self._keys.lock], [token])
