"""The clock all processes of a stage go by. It stands still until somebody waits, and then it jumps: what a repair
takes is measured in these seconds, however slow or fast the machine is."""

import math
import mmap
import os
import random
import struct
import time
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import SupportsFloat

from django.utils import timezone
from redis import Redis

from crawler import clock as shared_clock
from crawler.capabilities.hooks import subscribers
from crawler.core.politeness import handover
from crawler.crawls import reconcile
from crawler.fetcher import loop, result_buffer, session, work_stealing
from crawler.frontier import results, seen_set
from crawler.frontier.keys import NOTIFY_COMING, RECONCILED
from crawler.manager import idle_poller
from crawler.queueing import liveness, queues
from tests.timeless import TimelessLoop

TOO_LATE = 3  # exit status of a process that waited beyond its limit

_SLOWER = 1000  # times; Redis's own clock goes on, and what the table times must not expire because the machine is slow

_AGE = """
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left, span = redis.call('PTTL', key), ARGV[1]
  local timed = key == ARGV[2] or key == ARGV[3] or key:match('^crawler:extraction:')
  if timed or key:match('^crawler:%x+%-[%x-]+:lock[:%d]*$') then span = span * ARGV[4] end
  if left > 0 then redis.call('PEXPIRE', key, left - span) end
end
"""


class GivenClock:
    """Epoch seconds, and the moment after which nobody may wait any more, in memory that forked processes share, so
    that it outlives any of them."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 16)

    def now(self) -> float:
        return self._read()[0]

    def set(self, now: float, limit: float) -> None:
        self._memory[:] = struct.pack("dd", now, limit)

    def _read(self) -> tuple[float, float]:
        now, limit = struct.unpack("dd", self._memory[:])
        return now, limit

    def pass_by(self, seconds: SupportsFloat, /) -> None:
        """Time passes, for Redis too: what has a time to live grows older. Beyond the limit the process ends."""
        span = float(seconds)
        now, limit = self._read()
        self.set(now + span, limit)
        queues.connection().eval(_AGE, 0, str(int(span * 1000)), RECONCILED, NOTIFY_COMING, str(_SLOWER))
        if now + span > limit:
            os._exit(TOO_LATE)

    def await_job(self, seconds: float) -> None:
        """No time passes when a job was sent: whoever sent it signalled it."""
        if not queues.has_work():
            self.pass_by(seconds)

    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now(), UTC)

    def redis_time(self) -> tuple[int, int]:
        """Seconds and microseconds, as Redis tells them."""
        return int(self.now()), int(self.now() % 1 * 1e6)


def live_by(clock: GivenClock) -> None:
    """From now on this process lives by the given clock, and nothing in it is left to chance."""
    replaced: list[tuple[object, str, object]] = [
        (time, "sleep", clock.pass_by),
        (time, "time", clock.now),
        (timezone, "now", clock.moment),
        (Redis, "time", lambda redis, **options: clock.redis_time()),
        (idle_poller.poll_while_idle, "__defaults__", (clock.await_job, clock.now, clock.pass_by)),
        (liveness, "MS_PER_S", liveness.MS_PER_S * _SLOWER),
        (results, "MS_PER_S", results.MS_PER_S * _SLOWER),
        (queues, "MS_PER_S", queues.MS_PER_S * _SLOWER),
        (reconcile, "time", SimpleNamespace(monotonic=clock.now)),  # a look takes no time
        (subscribers, "time", SimpleNamespace(monotonic=clock.now)),  # nor do calls of hooks
        (session, "MAX_BATCH_S", 600.0),  # goes by the machine's own clock
        (work_stealing, "check_interval", lambda quiet_s: 600.0),  # the same
        (loop, "LINGER_S", 0.0),  # the same
        (shared_clock, "shared", SimpleNamespace(epoch_seconds=clock.now)),
        (loop, "EventLoop", partial(TimelessLoop, clock.now, clock.pass_by)),
        (result_buffer, "FLUSH_INTERVAL_S", 600.0),  # the same
        (handover, "SLOW_RESPONSE_S", math.inf),  # the same
        (random, "random", lambda: 0.5),  # no jitter
        (seen_set, "SHARD_COUNT", 64),  # to delete the usual number takes Redis 10 ms
    ]
    for owner, name, value in replaced:
        setattr(owner, name, value)
