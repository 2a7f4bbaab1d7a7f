"""What a crawl has read, as bits in Redis, and whether its fetch jobs are to tell what pages say.

It is a Bloom filter of two generations (B. Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970):
once the younger one is full, it becomes the older one. It is written after the commit, so it never knows a page that
the table does not; what is lost with Redis, or by two ticks that write it at once, is read as new once more.
"""

from collections.abc import Collection, Iterable

from redis import Redis

from crawler.capabilities.traps.crawl_keys import CRAWL_KEYS
from crawler.frontier.keys import CrawlKeys

BITS = 2**21  # of one generation: both are 512 KiB
MAX_BITS_SET = BITS // 10  # a tenth, so that one unread hash in a hundred is taken for known
_BYTES = BITS // 8
LISTENING_TTL_S = 3600


class BitMemory:
    """The memory of one crawl. It is read once; hashes have 32 bits."""

    def __init__(self, redis: Redis, crawl: str) -> None:
        self._redis = redis
        keys = CrawlKeys(crawl)
        self._said, self._listening = map(keys.of, CRAWL_KEYS)
        self._early_results = keys.early_results
        self._bits: bytearray | None = None

    def unknown(self, hashes: Collection[int]) -> list[int]:
        """Those that are not stored."""
        bits = self._load()
        return [each for each in hashes if not (_has(bits, each, 0) or _has(bits, each, BITS))]

    def add(self, hashes: Iterable[int]) -> None:
        bits = self._load()
        for each in hashes:
            for place in _places(each):
                bits[place >> 3] |= 1 << (place & 7)
        if int.from_bytes(bits[:_BYTES], "big").bit_count() > MAX_BITS_SET:
            bits = self._bits = bytearray(_BYTES) + bits[:_BYTES]
        self._redis.set(self._said, bytes(bits))

    def listen(self) -> None:
        """From now on fetch jobs tell what the pages of their slices say."""
        self._redis.set(self._listening, 1, ex=LISTENING_TTL_S)
        self._redis.set(self._early_results, 1, ex=LISTENING_TTL_S)

    def rest(self) -> None:
        """They do no longer."""
        self._redis.delete(self._listening, self._early_results)

    def _load(self) -> bytearray:
        if self._bits is None:
            stored: bytes | None = self._redis.get(self._said)  # type: ignore[assignment]  # the client is no async one
            self._bits = bytearray(stored or 2 * _BYTES)
        return self._bits


def _has(bits: bytearray, value: int, begin: int) -> bool:
    return all(bits[(begin + place) >> 3] >> (place & 7) & 1 for place in _places(value))


def _places(value: int) -> tuple[int, int]:
    """Multiplicative hashing spreads the second one (Knuth, The Art of Computer Programming, 6.4)."""
    return value % BITS, (value * 0x9E3779B1 >> 11) % BITS
