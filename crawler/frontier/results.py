"""The results list, the dirty mark and the tick lock: wake-ups are never lost (rules R3 and R5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import cast

import msgspec
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import WatchError

from crawler.core.installation.deployment import MAX_SKEW_S
from crawler.frontier import metrics, scripts
from crawler.frontier.keys import CrawlKeys

MARK_FRESH_S = 5.0  # a tick is assumed to be on its way for this long without looking for its job
FIRST_READ_REPORTS = 8
MAX_FIRST_READ_BYTES = 4 * 1024 * 1024  # no further reports are read if the first ones are larger
LOCK_TTL_S = 12.0  # the lock of a dead tick expires after this
MS_PER_S = 1000


class ReleaseResult(Enum):
    """The result of releasing the tick lock."""

    YES = 1  # no other tick was requested
    DIRTY = 0  # another tick was requested: the lock is kept, drain again
    LOST = 2  # the lock expired and another tick may be at work


class Mark(msgspec.Struct, frozen=True):
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
        """Whether its tick is assumed to be on its way. Not if `sent_at` is in the future: the clock was set back."""
        return abs(now - self.sent_at) <= MARK_FRESH_S


class TickEnd(msgspec.Struct, frozen=True):
    """The end of a tick."""

    at: float  # epoch seconds
    summary: str

    @classmethod
    def read(cls, raw: bytes | None) -> TickEnd | None:
        if raw is None:
            return None
        at, _, summary = raw.decode().partition(" ")
        return cls(float(at), summary)

    def is_in_future(self, now: float) -> bool:
        """Whether the clock was set back since, as when another Redis took over: then times in Redis, such as the ends
        of leases and delays, may be as far off as that."""
        return self.at - now > MAX_SKEW_S


class Results:
    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._keys = redis, keys

    def push(
        self,
        reports: Sequence[bytes],
        now: float,
        *,
        tick_job: str,
        is_coming: Callable[[Mark], bool],
        send_tick: Callable[[Pipeline], None],
        is_urgent: bool = True,
    ) -> bool:
        """Push reports (or none, to request a tick only), mark the crawl dirty and send a tick, in one atomic step.
        Reports that are not urgent wait for the next tick.

        No tick is sent when one is on its way: its mark is younger than MARK_FRESH_S, or `is_coming(mark)` finds its
        job in the queue. Returns whether a tick was sent. Watching the mark closes the race with a tick that clears it
        between the read and the transaction: then the step is repeated.
        """
        keys = self._keys
        if not is_urgent:
            if reports:
                self._redis.rpush(keys.results, *reports)
            return False
        while True:
            with self._redis.pipeline() as pipe:
                pipe.watch(keys.mark)  # type: ignore[no-untyped-call]  # redis-py gives it no types
                mark = Mark.read(cast(bytes | None, pipe.get(keys.mark)))
                send = mark is None or not (mark.is_fresh(now) or is_coming(mark))
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
        """Called before the results are read: a fetch job that pushes a result later sets it again."""
        self._redis.delete(self._keys.mark)

    def read(self, at_most: int) -> list[bytes]:
        """The oldest reports, only a few if they are large. They stay on the list until acknowledged."""
        reports = cast(list[bytes], self._redis.lrange(self._keys.results, 0, min(FIRST_READ_REPORTS, at_most) - 1))
        if len(reports) < FIRST_READ_REPORTS or sum(map(len, reports)) > MAX_FIRST_READ_BYTES:
            return reports
        return reports + cast(list[bytes], self._redis.lrange(self._keys.results, FIRST_READ_REPORTS, at_most - 1))

    def acknowledge(self, reports: Sequence[bytes]) -> None:
        """Remove these reports after the commit, each by its content: a tick that outlived its lock must not remove
        reports that another tick has not read yet."""
        with self._redis.pipeline(transaction=False) as pipe:  # a Redis that is full refuses transactions
            for report in reports:
                pipe.lrem(self._keys.results, 1, report)  # type: ignore[arg-type]  # redis-py says str, takes bytes
            pipe.execute()

    def note_tick(self, now: float, summary: str, seconds: float = 0.0) -> None:
        """Store, for users, when the last tick ended, what it did and how long it took."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.set(self._keys.tick, f"{now} {summary}")
            metrics.record_tick(pipe, seconds)
            pipe.execute()

    def last_tick(self) -> TickEnd | None:
        return TickEnd.read(cast(bytes | None, self._redis.get(self._keys.tick)))

    def acquire_lock(self, token: str, seconds: float = LOCK_TTL_S) -> bool:
        """Take or renew the tick lock."""
        answer = scripts.run(self._redis, "lock_acquire", [self._keys.lock], [token, int(seconds * MS_PER_S)])
        return bool(answer == 1)

    def release_lock_if_clean(self, token: str) -> ReleaseResult:
        keys = [self._keys.lock, self._keys.mark]
        return ReleaseResult(scripts.run(self._redis, "lock_release_if_clean", keys, [token]))

    def release_lock(self, token: str) -> None:
        scripts.run(self._redis, "lock_release", [self._keys.lock], [token])
