"""One host's connections and delay, kept over all workers and all crawls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from redis import Redis

from crawler.frontier import keys, script


@dataclass(frozen=True)
class Turn:
    """Whether a host may be asked now, and when it may be asked next."""

    granted: bool
    next_at: float  # epoch seconds


class Gate:
    """`holder` names one slice at work; a slot it does not renew is free again after `slot_seconds`."""

    def __init__(self, redis: Redis, slot_seconds: float) -> None:
        self._redis, self._slot_seconds = redis, slot_seconds

    def enter(self, host: str, holder: str, concurrency: int, now: float) -> bool:
        """Take, or renew, one of the host's connections; False when all are in use."""
        args = [holder, now, now + self._slot_seconds, concurrency]
        return bool(script.run(self._redis, "enter", [keys.host_slots(host)], args) == 1)

    def leave(self, host: str, holder: str) -> None:
        self._redis.zrem(keys.host_slots(host), holder)

    def turn(self, host: str, delay: float, now: float) -> Turn:
        """Take the turn at this host if nobody has had one within `delay` seconds."""
        granted, next_at = script.run(self._redis, "turn", [keys.host_next(host)], [now, delay])
        return Turn(granted=bool(granted == 1), next_at=float(next_at))

    def note_crawl_delay(self, host: str, seconds: float) -> None:
        """Remember for a day what the host's robots.txt asks for, so that slices are cut to fit."""
        self._redis.set(keys.host_crawl_delay(host), str(seconds), ex=24 * 3600)

    def crawl_delay(self, host: str) -> float | None:
        raw = cast(bytes | None, self._redis.get(keys.host_crawl_delay(host)))
        return None if raw is None else float(raw)
