"""The seen-set: URLs that are certainly stored in the table (rule R2b). It never knows more than the table does.

It is stored as numbers in many small sets (shards), which Redis packs to some ten bytes a URL; one large set takes
seven times as much. Ten of the 16 bytes of a URL's key are used: in a crawl of a million URLs a collision has a
probability of about 10^-12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from redis import Redis

from crawler.frontier import scripts

KEYS_PER_CALL = 2000  # keeps Lua's unpack and Redis's argument lists short
SHARD_COUNT = 16384  # sets of up to 512 numbers are packed: enough for eight million URLs


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

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys. Call it only *after* their rows are committed."""
        for begin in range(0, len(keys), KEYS_PER_CALL):
            scripts.run(self._redis, "seen_add", [], [f"{self._name}:", *_numbers(keys[begin : begin + KEYS_PER_CALL])])

    def clear(self) -> None:
        scripts.run(self._redis, "seen_clear", [], [f"{self._name}:", SHARD_COUNT])


def _numbers(keys: Sequence[bytes]) -> Iterator[int]:
    """Shard and number of each key, one after the other."""
    for key in keys:
        yield int.from_bytes(key[8:10]) % SHARD_COUNT
        yield int.from_bytes(key[:8], signed=True)
