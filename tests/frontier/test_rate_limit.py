"""Counting tries: in Redis and in memory alike."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis

from crawler.frontier import rate_limit
from crawler.frontier.rate_limit import (
    API_CALLS,
    FAILED_LOGINS,
    Limit,
    MemoryRateLimiter,
    RateLimiter,
    RedisRateLimiter,
)

NAME, ADDRESS = Limit("name:ann", 2), Limit("address:192.0.2.1", 3)


@pytest.fixture(params=["redis", "memory"])
def counts(request: pytest.FixtureRequest) -> RateLimiter:
    return (
        RedisRateLimiter(request.getfixturevalue("real_redis"), FAILED_LOGINS)
        if request.param == "redis"
        else MemoryRateLimiter(FAILED_LOGINS)
    )


def test_attempts_are_counted_until_a_limit_is_reached(counts: RateLimiter) -> None:
    assert [counts.take([NAME, ADDRESS]).made for _ in range(2)] == [(1, 1), (2, 2)]
    full = counts.take([NAME, ADDRESS])
    assert (full.made, 899 <= full.wait <= 900) == ((2, 2), True)
    assert 899 <= full.ends_in <= 900


def test_a_refused_attempt_is_not_counted(counts: RateLimiter) -> None:
    for _ in range(5):
        counts.take([NAME])
    assert counts.take([NAME, ADDRESS]).wait
    assert counts.take([ADDRESS]).made == (1,)


def test_a_successful_attempt_is_given_back(counts: RateLimiter) -> None:
    for _ in range(9):
        assert counts.take([NAME, ADDRESS]).wait == 0
        counts.give_back([NAME, ADDRESS])
    assert counts.take([NAME]).made == (1,)


def test_giving_back_without_an_attempt_adds_no_capacity(counts: RateLimiter) -> None:
    counts.give_back([NAME])
    assert [counts.take([NAME]).wait > 0 for _ in range(3)] == [False, False, True]


def test_concurrent_attempts_do_not_exceed_the_limit(counts: RateLimiter) -> None:
    with ThreadPoolExecutor(8) as threads:
        took = list(threads.map(lambda _: counts.take([Limit("name:bob", 5)]).wait == 0, range(40)))
    assert sum(took) == 5


def test_in_redis_a_count_ends_by_itself_and_is_not_prolonged(real_redis: Redis) -> None:
    counts = RedisRateLimiter(real_redis, FAILED_LOGINS)
    for _ in range(2):
        counts.take([NAME])
    [key] = real_redis.keys("*")
    real_redis.pexpire(key, 7000)
    assert counts.take([NAME]).wait <= 7
    assert 0 < real_redis.pttl(key) <= 7000


def test_a_count_without_an_end_gets_one(real_redis: Redis) -> None:
    calls = RedisRateLimiter(real_redis, API_CALLS)
    calls.take([Limit("ann", 9)])
    [key] = real_redis.keys("*")
    real_redis.persist(key)
    assert calls.take([Limit("ann", 9)]).ends_in == 60


def test_each_rate_limit_counts_by_itself(real_redis: Redis) -> None:
    RedisRateLimiter(real_redis, FAILED_LOGINS).take([NAME])
    assert RedisRateLimiter(real_redis, API_CALLS).take([NAME]).made == (1,)


def test_the_end_of_a_window_is_that_of_the_first_attempt(counts: RateLimiter, real_redis: Redis) -> None:
    assert 899 <= counts.take([NAME]).ends_in <= 900
    for key in real_redis.keys("*"):
        real_redis.pexpire(key, 7000)
        assert 1 <= counts.take([NAME]).ends_in <= 7


def test_in_memory_it_does_so_too() -> None:
    now = [100.0]
    counts = MemoryRateLimiter(FAILED_LOGINS, clock=lambda: now[0])
    for _ in range(2):
        counts.take([NAME])
    now[0] += 893
    full = counts.take([NAME])
    assert (full.wait, full.ends_in) == (7, 7)
    now[0] += 7
    assert counts.take([NAME]).made == (1,)


def test_memory_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MAX_COUNTERS", 10)
    counts = MemoryRateLimiter(FAILED_LOGINS)
    for number in range(100):
        counts.take([Limit(f"name:{number}", 2)])
    assert len(counts._counts) <= 11
