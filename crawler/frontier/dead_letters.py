"""The dead letters of a crawl: failed pages, and when they failed. The table lists them permanently (`Page.given_up`);
these recent ones show a running crawl's failures without a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from redis import Redis

from crawler.frontier.keys import CrawlKeys


class DeadLetters:
    """Page ids with the time they failed; added only after their rows are committed."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._keys = redis, keys

    def add(self, pages: Sequence[int], now: float) -> None:
        if pages:
            self._redis.zadd(self._keys.dead, {str(page): now for page in pages})

    def remove(self, pages: Sequence[int]) -> None:
        """These pages are retried."""
        if pages:
            self._redis.zrem(self._keys.dead, *pages)

    def count_since(self, moment: float) -> int:
        """How many failed after this time, in epoch seconds."""
        return self._redis.zcount(self._keys.dead, moment, "+inf")

    def newest(self, at_most: int) -> list[tuple[int, float]]:
        """Page id and time, newest first."""
        found = cast(list[tuple[bytes, float]], self._redis.zrevrange(self._keys.dead, 0, at_most - 1, withscores=True))
        return [(int(page), moment) for page, moment in found]

    def expire_in(self, seconds: float) -> None:
        """The crawl is over: they expire after this."""
        self._redis.expire(self._keys.dead, max(1, int(seconds)))

    def persist(self) -> None:
        """The crawl goes on: they no longer expire."""
        self._redis.persist(self._keys.dead)
