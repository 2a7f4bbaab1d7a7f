"""What a crawl has read is remembered in bounded space, by all processes that read it."""

import secrets
from collections.abc import Iterator
from random import Random

import pytest
from redis import Redis

from crawler.capabilities.traps import memory as memories
from crawler.capabilities.traps.crawl_keys import SAID, SAID_LOG
from crawler.capabilities.traps.memory import BITS, MAX_COPIES, MAX_LOG_BYTES, BitMemory
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CrawlKeys

CRAWL = "11111111-2222-3333-4444-555555555555"
BITS_KEY, LOG_KEY = map(CrawlKeys(CRAWL).of, (SAID, SAID_LOG))
SOME = list(range(1000))


class Process:
    """One with a copy of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._copy, self._monkeypatch = memories._Copy(), monkeypatch

    def learn(self, hashes: list[int]) -> list[int]:
        """As a tick: the unknown ones, which are stored."""
        unknown, memory = self.unknown(hashes), BitMemory(CRAWL)
        assert memory.take(hashes) == len(unknown)
        memory.store()
        return unknown

    def unknown(self, hashes: list[int]) -> list[int]:
        self._monkeypatch.setattr(memories, "_copy_of", lambda crawl: self._copy)
        memory = BitMemory(CRAWL)
        return [each for each in hashes if not memory.knows(each)]


@pytest.fixture
def processes(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    return (Process(monkeypatch) for _ in range(9))


def hashes(number: int, seed: int) -> list[int]:
    return [Random(f"{seed} {each}").getrandbits(32) for each in range(number)]


def full_log(redis: Redis) -> None:
    redis.rpush(LOG_KEY, b"1" * MAX_LOG_BYTES)


def test_what_was_added_is_known_to_the_next_reader(processes: Iterator[Process]) -> None:
    one, other = next(processes), next(processes)
    for seed in range(4):
        some = hashes(100, seed)
        assert one.learn(some) == some
        assert other.unknown(some) == []


def test_what_another_process_moved_to_the_bits_is_known(real_redis: Redis, processes: Iterator[Process]) -> None:
    one, other = next(processes), next(processes)
    one.learn(SOME)
    full_log(real_redis)
    other.unknown(SOME)
    assert real_redis.llen(LOG_KEY) == 1
    other.learn([2000])
    assert one.unknown([*SOME, 2000]) == next(processes).unknown([*SOME, 2000]) == []


def test_nothing_is_lost_that_is_added_while_a_long_log_is_stored(
    real_redis: Redis, processes: Iterator[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = next(processes), next(processes)
    one.learn(SOME)
    full_log(real_redis)

    def added_meanwhile(number: int) -> bytes:
        real_redis.rpush(LOG_KEY, (2000).to_bytes(4, "little"))
        return b"s" * number

    monkeypatch.setattr(secrets, "token_bytes", added_meanwhile)
    assert one.unknown([*SOME, 2000]) == [2000]
    assert one.unknown([*SOME, 2000]) == other.unknown([*SOME, 2000]) == []


def test_results_are_needed_early_while_fetch_jobs_tell_what_pages_say(real_redis: Redis) -> None:
    memory, frontier = BitMemory(CRAWL), Frontier(real_redis, CRAWL)
    memory.listen()
    assert frontier.needs_early_results()
    memory.rest()
    assert not frontier.needs_early_results()


@pytest.mark.long
def test_hardly_another_is_taken_for_known_when_it_is_full(real_redis: Redis, processes: Iterator[Process]) -> None:
    writer = next(processes)
    for seed in range(300):
        writer.learn(hashes(1_000, seed))
    others = hashes(5_000, seed=999)
    reader = next(processes)
    assert len(reader.unknown(others)) > 4_850
    assert reader.unknown([each for seed in range(290, 300) for each in hashes(1_000, seed)]) == []
    assert real_redis.strlen(BITS_KEY) == BITS // 4
    assert sum(map(len, real_redis.lrange(LOG_KEY, 0, -1))) < MAX_LOG_BYTES + 4 * 1_000
    assert len(real_redis.keys(f"crawler:{CRAWL}:*")) == 2


def test_redis_that_has_lost_it_has_read_nothing(real_redis: Redis, processes: Iterator[Process]) -> None:
    one = next(processes)
    one.learn(SOME)
    real_redis.flushdb()
    assert one.unknown([7]) == [7]
    next(processes).learn([8])
    assert one.unknown([7, 8]) == [7]


def test_bits_that_an_earlier_version_has_stored_are_known(real_redis: Redis, processes: Iterator[Process]) -> None:
    one = next(processes)
    one.learn(SOME)
    full_log(real_redis)
    one.unknown(SOME)
    real_redis.delete(LOG_KEY)
    assert one.unknown(SOME) == next(processes).unknown(SOME) == []


def test_a_process_has_copies_of_few_crawls(real_redis: Redis) -> None:
    for number in range(9):
        BitMemory(str(number)).knows(7)
    assert memories._copy_of.cache_info().currsize == MAX_COPIES


def test_each_crawl_has_read_for_itself(real_redis: Redis) -> None:
    memory = BitMemory(CRAWL)
    memory.take([7])
    memory.store()
    assert BitMemory(CRAWL).knows(7)
    assert not BitMemory(f"{CRAWL}-other").knows(7)
