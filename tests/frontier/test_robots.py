"""What is remembered of robots.txt files: for a day, for all crawls, and by one asker at a time."""

from __future__ import annotations

import pytest
from redis import Redis

from crawler.core.outcomes import Outcome
from crawler.frontier import keys
from crawler.frontier.robots import KEPT_UNREACHABLE_SECONDS, LOCK_SECONDS, RobotsMemo, RobotsMemory

ORIGIN = "https://example.com"
RULES = RobotsMemo(status=200, outcome=Outcome.SUCCESS, body=b"\xef\xbb\xbf\xff\0", oddity="odd", error="")


def test_what_is_kept_is_found_again_octet_for_octet_by_everyone(redis: Redis) -> None:
    RobotsMemory(redis).keep(ORIGIN, RULES, reachable=True)
    assert RobotsMemory(redis).get(ORIGIN) == RULES


def test_it_is_kept_for_a_day_and_no_longer(redis: Redis) -> None:
    RobotsMemory(redis).keep(ORIGIN, RULES, reachable=True)
    assert 86_390 < redis.ttl(keys.robots(ORIGIN)) <= 86_400


def test_a_crawl_behind_a_proxy_of_its_own_keeps_it_to_itself(redis: Redis) -> None:
    RobotsMemory(redis, "a-crawl").keep(ORIGIN, RULES, reachable=True)
    assert RobotsMemory(redis, "a-crawl").get(ORIGIN) == RULES
    assert RobotsMemory(redis).get(ORIGIN) is None


def test_that_it_could_not_be_had_is_soon_forgotten(redis: Redis) -> None:
    RobotsMemory(redis).keep(ORIGIN, RobotsMemo(status=503, outcome=Outcome.SERVER_ERROR, body=b""), reachable=False)
    assert 0 < redis.pttl(keys.robots(ORIGIN)) <= KEPT_UNREACHABLE_SECONDS * 1000


@pytest.mark.parametrize("other", ["http://example.com", "https://example.com:8443", "https://www.example.com"])
def test_another_origin_has_rules_of_its_own(redis: Redis, other: str) -> None:
    RobotsMemory(redis).keep(ORIGIN, RULES, reachable=True)
    assert RobotsMemory(redis).get(other) is None


@pytest.mark.parametrize("raw", [b"", b"\xff", b"\x80", b"\x83\xa6status\xcc\xc8\xa7outcome\xa32xx\xa4text\xa1a"])
def test_what_another_version_wrote_is_as_good_as_nothing(redis: Redis, raw: bytes) -> None:
    redis.set(keys.robots(ORIGIN), raw)
    assert RobotsMemory(redis).get(ORIGIN) is None


def test_one_worker_at_a_time_may_ask(redis: Redis) -> None:
    memory = RobotsMemory(redis)
    assert memory.may_ask(ORIGIN, "one")
    assert not memory.may_ask(ORIGIN, "other")
    memory.asked(ORIGIN)
    assert memory.may_ask(ORIGIN, "other")


def test_whoever_is_still_asking_is_not_taken_for_dead(redis: Redis) -> None:
    memory = RobotsMemory(redis)
    memory.may_ask(ORIGIN, "one")
    redis.expire(keys.robots_lock(ORIGIN), 1)
    memory.still_asking(ORIGIN)
    assert LOCK_SECONDS - 1 <= redis.ttl(keys.robots_lock(ORIGIN)) <= LOCK_SECONDS
