"""Counting calls within a minute."""

from __future__ import annotations

from redis import Redis

from crawler.frontier.rate_limit import count_call


def test_calls_are_counted_for_each_apart(real_redis: Redis) -> None:
    assert [count_call(real_redis, who).made for who in ("ann", "ann", "bob")] == [1, 2, 1]


def test_the_minute_begins_with_the_first_and_later_ones_do_not_prolong_it(real_redis: Redis) -> None:
    count_call(real_redis, "ann")
    [key] = real_redis.keys("*")
    real_redis.pexpire(key, 7000)
    assert 1 <= count_call(real_redis, "ann").ends_in <= 7


def test_a_count_without_an_end_gets_one(real_redis: Redis) -> None:
    count_call(real_redis, "ann")
    [key] = real_redis.keys("*")
    real_redis.persist(key)
    assert count_call(real_redis, "ann").ends_in == 60
