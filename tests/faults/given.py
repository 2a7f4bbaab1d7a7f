"""The clock all processes of a stage go by. It stands still until somebody waits, and then it jumps: what a repair
takes is measured in these seconds, however slow or fast the machine is."""

from __future__ import annotations

import mmap
import os
import random
import struct
import time
from datetime import UTC, datetime
from typing import SupportsFloat

from django.apps import apps
from django.db.models import Field
from django.utils import timezone
from redis import Redis

from crawler import queues
from crawler.engine import fetch, reporter, watch

TOO_LATE = 3  # exit status of a process that waited beyond its limit

_AGE = """
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left > 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
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
        queues.connection().eval(_AGE, 0, str(int(span * 1000)))
        if now + span > limit:
            os._exit(TOO_LATE)

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
        (Redis, "time", lambda redis, **options: clock.redis_time()),
        (watch.watch, "__defaults__", (clock.pass_by, clock.now)),
        (watch, "STEP", 0.1),  # fewer looks, so that waiting costs less
        (fetch, "BATCH_SECONDS", 600.0),  # goes by the machine's own clock
        (reporter, "FLUSH_SECONDS", 600.0),  # the same
        (random, "random", lambda: 0.5),  # no jitter
    ]
    _date_rows_by(clock)  # first: it looks for Django's own clock
    for owner, name, value in (*replaced, (timezone, "now", clock.moment)):
        setattr(owner, name, value)


def _date_rows_by(clock: GivenClock) -> None:
    for model in apps.get_app_config("crawler").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, Field) and field.default is timezone.now:
                field.default = clock.moment
                field.__dict__.pop("_get_default", None)  # Django keeps what it made of the default
