"""The seen-set: URLs that are certainly stored in the table (rule R2b). It never knows more than the table does.

It is stored as numbers in many small sets (shards), which Redis packs to some ten bytes a URL; one large set takes
seven times as much. Ten of the 16 bytes of a URL's key are used: in a crawl of a million URLs a collision has a
probability of about 10^-12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import cast

from redis import Redis

from crawler.frontier import scripts
from crawler.frontier.keys import CrawlKeys

KEYS_PER_CALL = 2000  # keeps Lua's unpack and Redis's argument lists short
_NUMBER_AND_SHARD = Struct(">qH")  # the first ten bytes of a key
SHARD_COUNT = 16384  # Redis packs sets of up to `set-max-intset-entries` numbers; 512 are eight million URLs


class SeenSet:
    """URL keys (16 bytes each) whose rows are committed. `name` is the prefix of the shards' names."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._redis, self._name = redis, name

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """The indexes in `keys` of those that may not be stored yet; only these need a query."""
        found: list[int] = []
        for begin in range(0, len(keys), KEYS_PER_CALL):
            args = [f"{self._name}:", *_numbers(keys[begin : begin + KEYS_PER_CALL])]
            places = cast(list[int], scripts.run(self._redis, "seen_missing", [], args))
            found.extend(begin + place - 1 for place in places)
        return found

    def add(self, keys: Sequence[bytes], redis: Redis | None = None) -> None:
        """Add keys. Call it only *after* their rows are committed. `redis` may be a pipeline."""
        for begin in range(0, len(keys), KEYS_PER_CALL):
            args = [f"{self._name}:", *_numbers(keys[begin : begin + KEYS_PER_CALL])]
            scripts.run(redis if redis is not None else self._redis, "seen_add", [], args)

    def clear(self) -> None:
        scripts.run(self._redis, "seen_clear", [], [f"{self._name}:", SHARD_COUNT])


def _numbers(keys: Sequence[bytes]) -> Iterator[int]:
    """Shard and number of each key, one after the other."""
    for key in keys:
        number, shard = _NUMBER_AND_SHARD.unpack_from(key)
        yield shard % SHARD_COUNT
        yield number


# The dead letters of a crawl: failed pages, and when they failed. The table lists them permanently (`Page.given_up`);
# these recent ones show a running crawl's failures without a query.


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
