"""The seen-set: URLs that are surely stored in the table (rule R2b). It never knows more than the table does.

It is kept as numbers in many small sets, which Redis packs to some ten bytes a URL; one large set takes seven times as
much. Of a URL's key (16 bytes) ten are used. Two URLs of a crawl of a million agree in them once in a million million
crawls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from redis import Redis

from crawler.frontier import scripts

CHUNK = 2000  # keys per call; Lua's unpack and Redis's argument lists stay short
PARTS = 16384  # sets of up to 512 numbers are packed: enough for eight million URLs


class SeenSet:
    """URL keys (16 bytes each) whose rows are committed. `name` is the Redis key its parts' names begin with."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._redis, self._name = redis, name

    def unseen(self, keys: Sequence[bytes]) -> list[int]:
        """The places in `keys` of those that may not be stored yet; only these need asking the table."""
        found: list[int] = []
        for begin in range(0, len(keys), CHUNK):
            args = [f"{self._name}:", *_numbers(keys[begin : begin + CHUNK])]
            places = cast(list[int], scripts.run(self._redis, "unseen", [], args))
            found.extend(begin + place - 1 for place in places)
        return found

    def add(self, keys: Sequence[bytes]) -> None:
        """Remember keys. To be called only *after* their rows are committed."""
        for begin in range(0, len(keys), CHUNK):
            scripts.run(self._redis, "see", [], [f"{self._name}:", *_numbers(keys[begin : begin + CHUNK])])

    def forget(self) -> None:
        scripts.run(self._redis, "unsee", [], [f"{self._name}:", PARTS])


def _numbers(keys: Sequence[bytes]) -> Iterator[int]:
    """Part and number of each key, one after the other."""
    for key in keys:
        yield int.from_bytes(key[8:10]) % PARTS
        yield int.from_bytes(key[:8], signed=True)
