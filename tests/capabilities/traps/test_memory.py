"""What a crawl has read is remembered in bounded space."""

from random import Random

from redis import Redis

from crawler.capabilities.traps.memory import BitMemory
from crawler.frontier.frontier import Frontier

CRAWL = "11111111-2222-3333-4444-555555555555"


def hashes(number: int, seed: int) -> list[int]:
    return [Random(f"{seed} {each}").getrandbits(32) for each in range(number)]


def test_what_was_added_is_known_to_the_next_reader(real_redis: Redis) -> None:
    some = hashes(1000, seed=1)
    BitMemory(real_redis, CRAWL).add(some)
    assert BitMemory(real_redis, CRAWL).unknown(some) == []


def test_results_are_needed_early_while_fetch_jobs_tell_what_pages_say(real_redis: Redis) -> None:
    memory, frontier = BitMemory(real_redis, CRAWL), Frontier(real_redis, CRAWL)
    memory.listen()
    assert frontier.needs_early_results()
    memory.rest()
    assert not frontier.needs_early_results()


def test_hardly_another_is_taken_for_known_when_it_is_full(real_redis: Redis) -> None:
    memory = BitMemory(real_redis, CRAWL)
    for seed in range(30):
        memory.add(hashes(10_000, seed))
    others = hashes(5_000, seed=99)
    assert len(BitMemory(real_redis, CRAWL).unknown(others)) > 4_850
    assert BitMemory(real_redis, CRAWL).unknown(hashes(10_000, seed=29)) == []
    assert real_redis.dbsize() == 1


def test_redis_that_has_lost_it_has_read_nothing(real_redis: Redis) -> None:
    BitMemory(real_redis, CRAWL).add([7])
    real_redis.flushdb()
    assert BitMemory(real_redis, CRAWL).unknown([7]) == [7]
