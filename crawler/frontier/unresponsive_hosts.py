"""Hosts of a crawl that do not answer, or whose robots.txt cannot be had: how often in a row, since when, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from redis import Redis

from crawler.core.crawl.outcomes import Outcome
from crawler.frontier.keys import CrawlKeys


@dataclass(frozen=True)
class Silence:
    times: int  # in a row
    since: float  # epoch seconds
    outcome: Outcome  # of the last time


class Silences:
    """Kept for each crawl apart: who begins another one wants its hosts to be asked."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._key = redis, keys.silent

    def of(self, host: str) -> Silence | None:
        raw = cast(bytes | None, self._redis.hget(self._key, host))
        if raw is None:
            return None
        times, since, outcome = raw.decode().split(" ")
        return Silence(int(times), float(since), Outcome(outcome))

    def among(self, hosts: Sequence[str]) -> set[str]:
        """Those of these hosts that are silent."""
        known = cast(list[bytes | None], self._redis.hmget(self._key, list(hosts)))
        return {host for host, raw in zip(hosts, known, strict=True) if raw is not None}

    def note(self, host: str, outcome: Outcome, now: float) -> Silence:
        """The host did not answer once more. Of two notes at one moment one may be lost."""
        known = self.of(host)
        silence = Silence(known.times + 1, known.since, outcome) if known else Silence(1, now, outcome)
        self._redis.hset(self._key, host, f"{silence.times} {silence.since} {silence.outcome.value}")
        return silence

    def is_over(self, host: str) -> None:
        """The host has answered."""
        self._redis.hdel(self._key, host)

    def forget(self) -> None:
        self._redis.delete(self._key)
