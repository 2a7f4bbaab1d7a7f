"""Hosts of a crawl that do not respond, or whose robots.txt is unreachable: how often in a row, since when, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from redis import Redis

from crawler.core.crawl.outcomes import Outcome
from crawler.frontier.keys import CrawlKeys


@dataclass(frozen=True)
class FailureStreak:
    times: int  # in a row
    since: float  # epoch seconds
    outcome: Outcome  # of the last time


class UnresponsiveHosts:
    """Stored per crawl: a new crawl tries its hosts again."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._key = redis, keys.silent

    def get(self, host: str) -> FailureStreak | None:
        raw = cast(bytes | None, self._redis.hget(self._key, host))
        if raw is None:
            return None
        times, since, outcome = raw.decode().split(" ")
        return FailureStreak(int(times), float(since), Outcome(outcome))

    def among(self, hosts: Sequence[str]) -> set[str]:
        """The unresponsive ones of these hosts."""
        known = cast(list[bytes | None], self._redis.hmget(self._key, list(hosts)))
        return {host for host, raw in zip(hosts, known, strict=True) if raw is not None}

    def record_failure(self, host: str, outcome: Outcome, now: float) -> FailureStreak:
        """The host did not respond once more. Of two concurrent calls one may be lost."""
        known = self.get(host)
        streak = FailureStreak(known.times + 1, known.since, outcome) if known else FailureStreak(1, now, outcome)
        self._redis.hset(self._key, host, f"{streak.times} {streak.since} {streak.outcome.value}")
        return streak

    def remove(self, host: str) -> None:
        """The host has responded."""
        self._redis.hdel(self._key, host)

    def clear(self) -> None:
        self._redis.delete(self._key)
