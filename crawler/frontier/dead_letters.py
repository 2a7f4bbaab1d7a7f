"""The dead letters of a crawl: pages that were given up, and when. The table lists them for good (`Page.given_up`);
this memory of the last hours tells how a running crawl fares without asking the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from redis import Redis

from crawler.frontier.keys import CrawlKeys


class DeadLetters:
    """Page ids with the time they were given up. Told only after their rows are committed."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._keys = redis, keys

    def add(self, pages: Sequence[int], now: float) -> None:
        if pages:
            self._redis.zadd(self._keys.dead, {str(page): now for page in pages})

    def remove(self, pages: Sequence[int]) -> None:
        """These are tried again."""
        if pages:
            self._redis.zrem(self._keys.dead, *pages)

    def since(self, moment: float) -> int:
        """How many were given up after this moment, in epoch seconds."""
        return self._redis.zcount(self._keys.dead, moment, "+inf")

    def newest(self, at_most: int) -> list[tuple[int, float]]:
        """Page id and time, the one given up last first."""
        found = cast(list[tuple[bytes, float]], self._redis.zrevrange(self._keys.dead, 0, at_most - 1, withscores=True))
        return [(int(page), moment) for page, moment in found]

    def expire_in(self, seconds: float) -> None:
        """The crawl is over: forget them after this."""
        self._redis.expire(self._keys.dead, max(1, int(seconds)))

    def keep(self) -> None:
        """The crawl goes on: do not forget them yet."""
        self._redis.persist(self._keys.dead)
