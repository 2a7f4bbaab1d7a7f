"""What a large crawl takes of Redis. `tools/bench/frontier.py` shows the same for a million pages."""

from hashlib import blake2b

from redis import Redis

from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import QueueItem

MIB = 1024 * 1024
PAGES = 100_000
WINDOW = 50_000


def used(redis: Redis) -> int:
    return int(redis.info("memory")["used_memory"])


def test_a_million_open_pages_take_less_than_sixty_megabytes(real_redis: Redis) -> None:
    """The window is full whatever the size of the crawl; the seen-set grows with it."""
    frontier = Frontier(real_redis, "a-crawl")
    frontier.seen.missing([bytes(16)])  # so that the scripts are loaded
    empty = used(real_redis)
    frontier.seen.add([blake2b(b"%d" % number, digest_size=16).digest() for number in range(PAGES)])
    seen = used(real_redis)
    frontier.ready_queue.enqueue(QueueItem(number, "one-host.example", 0.0) for number in range(1, WINDOW + 1))
    window = used(real_redis) - seen
    assert (seen - empty) * (1_000_000 / PAGES) + window < 60 * MIB
