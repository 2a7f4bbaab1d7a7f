"""What a crawl has read, in Redis, and whether its fetch jobs are to tell what pages say.

It is a Bloom filter of two generations (B. Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970):
once the younger one is full, it becomes the older one. Redis has its bits, and a log of the hashes that were added
since. A process has copies of a few crawls' bits and reads the log alone, whose stamp is another one after each change
of the stored bits; a copy with another stamp is read again.

It is written after the commit, so it never knows a page that the table does not. What is lost with Redis, or by two
processes that store the bits at once, is read as new once more.
"""

import secrets
from array import array
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from redis import Redis

from crawler.capabilities.traps.branches import Memory
from crawler.capabilities.traps.crawl_keys import CRAWL_KEYS
from crawler.frontier.keys import CrawlKeys
from crawler.queueing import queues

BITS = 2**21  # of one generation: both are 512 KiB
MAX_BITS_SET = BITS // 10  # a tenth, so that one unread hash in a hundred is taken for known
MAX_LOG_BYTES = 32 * 1024  # a longer log is added to the stored bits
MAX_COPIES = 4  # crawls whose bits this process has
_BYTES = BITS // 8
LISTENING_TTL_S = 3600


@dataclass
class _Copy:
    """Of the bits of a crawl, with the first entries of the log added."""

    stamp: bytes = b""  # the log's
    bits: bytearray = field(default_factory=bytearray)
    entries: int = 0


@lru_cache(MAX_COPIES)
def _copy_of(crawl: str) -> _Copy:
    """This process's."""
    return _Copy()


class BitMemory(Memory):
    """The memory of one crawl, as it is when it is read first. Hashes have 32 bits."""

    def __init__(self, crawl: str) -> None:
        super().__init__()
        self._crawl, keys = crawl, CrawlKeys(crawl)
        self._said, self._log, listening = map(keys.of, CRAWL_KEYS)
        self._signals = (listening, keys.early_results)

    def knows(self, value: int) -> bool:
        return value in self.taken or _has(self._bits, value)

    def store(self) -> None:
        """Called after the commit. A reader who finds a long log makes it part of the stored bits. The first entry of a
        log gets a stamp before it; a reader in between takes that entry for the stamp."""
        if self.taken and self._redis.rpush(self._log, array("I", self.taken).tobytes()) == 1:
            self._redis.lpush(self._log, secrets.token_bytes(8))

    def listen(self) -> None:
        """From now on fetch jobs tell what the pages of their slices say."""
        for key in self._signals:
            self._redis.set(key, 1, ex=LISTENING_TTL_S)

    def rest(self) -> None:
        """They do no longer."""
        self._redis.delete(*self._signals)

    @property
    def _redis(self) -> Redis:
        return queues.connection()

    @cached_property
    def _bits(self) -> bytearray:
        """The log is read before the bits, so that what another process moves from one to the other is not missed."""
        log: list[bytes] = self._redis.lrange(self._log, 0, -1)  # type: ignore[assignment]  # the client is not async
        copy = _copy_of(self._crawl)
        if log[:1] != [copy.stamp]:
            stored: bytes | None = self._redis.get(self._said)  # type: ignore[assignment]  # the same
            copy.stamp, copy.bits, copy.entries = log[0] if log else b"", bytearray(stored or 2 * _BYTES), 1
        for entry in log[copy.entries :]:
            for value in array("I", entry):
                for place in _places(value):
                    copy.bits[place >> 3] |= 1 << (place & 7)
        copy.entries = len(log)
        if sum(map(len, log)) > MAX_LOG_BYTES:
            self._move_log(copy)
        return copy.bits

    def _move_log(self, copy: _Copy) -> None:
        """Entries that another process has added since the log was read stay in it."""
        if int.from_bytes(copy.bits[:_BYTES], "big").bit_count() > MAX_BITS_SET:
            copy.bits = bytearray(_BYTES) + copy.bits[:_BYTES]
        read, copy.stamp, copy.entries = copy.entries, secrets.token_bytes(8), 1
        with self._redis.pipeline() as pipe:
            pipe.set(self._said, bytes(copy.bits))
            pipe.ltrim(self._log, read, -1)
            pipe.lpush(self._log, copy.stamp)
            pipe.execute()


def _has(bits: bytearray, value: int) -> bool:
    """Whether a generation has both of its places."""
    one, other = _places(value)
    return any(
        bits[begin + (one >> 3)] >> (one & 7) & bits[begin + (other >> 3)] >> (other & 7) & 1 for begin in (0, _BYTES)
    )


def _places(value: int) -> tuple[int, int]:
    """Multiplicative hashing spreads the second one (Knuth, The Art of Computer Programming, 6.4)."""
    return value % BITS, (value * 0x9E3779B1 >> 11) % BITS
