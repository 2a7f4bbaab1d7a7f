"""The seen-set: answers "surely stored", and never knows more than the table (rule R2b of the protocol)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from redis import Redis

from crawler.frontier import script
from crawler.frontier.keys import CrawlKeys

CHUNK = 2000  # keys per call; Lua's unpack and Redis's argument lists stay short


class SeenSet:
    """URL keys (16 bytes each) whose rows are committed."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._keys = redis, keys

    def unseen(self, keys: Sequence[bytes]) -> list[int]:
        """The places in `keys` of those that may not be stored yet; only these need asking the table."""
        found: list[int] = []
        for begin in range(0, len(keys), CHUNK):
            places = cast(
                list[int], script.run(self._redis, "unseen", [self._keys.seen], list(keys[begin : begin + CHUNK]))
            )
            found.extend(begin + place - 1 for place in places)
        return found

    def add(self, keys: Sequence[bytes]) -> None:
        """Remember keys. To be called only *after* their rows are committed."""
        for begin in range(0, len(keys), CHUNK):
            self._redis.sadd(self._keys.seen, *keys[begin : begin + CHUNK])
