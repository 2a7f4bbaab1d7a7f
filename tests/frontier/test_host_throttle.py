"""All workers and crawls add to one throttle of a host."""

import json
import math

import pytest
from redis import Redis

from crawler.core.politeness.throttle import FAST_START, FORGET_S, START, Throttle
from crawler.frontier import keys
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostStates
from crawler.frontier.host_throttle import HostThrottles, ResponseTimes

HOST, CRAWL = "example.com", "a-crawl"
NOW = 1_000_000.0


@pytest.fixture
def throttles(redis: Redis) -> HostThrottles:
    limiter = HostLimiter(redis, slot_seconds=600)
    for number in range(START):
        limiter.take_slot(HOST, f"holder-{number}", HostPolicy(CRAWL, connections=START), NOW)
    return HostThrottles(redis)


def report(throttles: HostThrottles, seconds: float, now: float, responses: int = 30) -> Throttle:
    times = ResponseTimes()
    for _ in range(responses):
        times.add(seconds, now)
    return throttles.note_responses(HOST, times, now, CRAWL)


def fail(throttles: HostThrottles, now: float, status: int | None = 503, seconds: float = 0.0) -> Throttle:
    return throttles.note_failure(HOST, seconds=seconds, connections=4, status=status, now=now, crawl=CRAWL)


def stored(redis: Redis, now: float) -> Throttle:
    return HostStates(redis).read([HOST], now)[HOST].throttle


def test_of_an_unknown_host_there_is_none(redis: Redis) -> None:
    assert stored(redis, NOW) == Throttle()


def test_what_follows_from_responses_is_stored(throttles: HostThrottles, redis: Redis) -> None:
    report(throttles, 0.3, NOW, responses=1)
    found = report(throttles, 0.3, NOW + 2)
    assert found.connections == 2 * START
    assert stored(redis, NOW + 2) == found
    assert redis.hget(keys.host(HOST), "limit") == str(2 * START).encode()


def test_the_reports_of_two_workers_are_one_window(throttles: HostThrottles) -> None:
    report(throttles, 0.3, NOW, responses=1)
    assert report(throttles, 0.3, NOW + 1, responses=4).connections == START
    assert report(HostThrottles(throttles._redis), 0.3, NOW + 1.5, responses=4).connections == 2 * START


def test_a_window_is_decided_on_once(throttles: HostThrottles, redis: Redis) -> None:
    report(throttles, 0.3, NOW, responses=1)
    report(throttles, 0.3, NOW + 2)
    assert redis.hmget(keys.host(HOST), ["responses", "logs", "squares"]) == [b"0", b"0", b"0"]


def test_responses_to_requests_sent_before_a_change_do_not_count(throttles: HostThrottles, redis: Redis) -> None:
    report(throttles, 0.3, NOW, responses=1)
    report(throttles, 3.0, NOW + 1)
    assert redis.hget(keys.host(HOST), "responses") in (None, b"0")
    report(throttles, 0.3, NOW + 1, responses=2)
    assert redis.hget(keys.host(HOST), "responses") == b"2"


def test_failures_of_requests_sent_together_count_once(throttles: HostThrottles) -> None:
    report(throttles, 0.3, NOW, responses=1)
    limits = [fail(throttles, NOW + 1, seconds=0.2).connections for _ in range(4)]
    assert limits == [2, 2, 2, 2]
    assert fail(throttles, NOW + 2, seconds=0.2).connections == 1


def test_a_response_ends_the_pause_after_failures(throttles: HostThrottles) -> None:
    report(throttles, 0.3, NOW, responses=1)
    assert [fail(throttles, NOW + place).delay for place in range(3)] == [0.25, 0.5, 1.0]
    assert report(throttles, 0.3, NOW + 4, responses=1).delay == 0.0


def test_it_is_forgotten_without_news(throttles: HostThrottles, redis: Redis) -> None:
    report(throttles, 0.3, NOW, responses=1)
    fail(throttles, NOW)
    assert stored(redis, NOW + FORGET_S + 1) == Throttle()


def test_a_fast_host_with_room_for_more_connections_than_are_of_use_needs_no_decision(
    throttles: HostThrottles, redis: Redis
) -> None:
    report(throttles, 0.01, NOW, responses=1)
    decided = stored(redis, NOW)
    assert decided.connections == FAST_START == 2 * START
    times = ResponseTimes()
    times.add(0.01, NOW + 4)
    throttles.note_responses(HOST, times, NOW + 4, CRAWL, connections=START)
    assert stored(redis, NOW + 4) == decided
    assert redis.hget(keys.host(HOST), "responses") == b"0"


def test_a_fast_host_is_not_forgotten_while_it_is_requested(throttles: HostThrottles, redis: Redis) -> None:
    for second in range(0, 1_000, 50):
        times = ResponseTimes()
        times.add(0.01, NOW + second)
        throttles.note_responses(HOST, times, NOW + second, CRAWL, connections=1)
    assert stored(redis, NOW + 999) != Throttle()


def test_what_a_later_version_stores_besides_is_ignored(throttles: HostThrottles, redis: Redis) -> None:
    report(throttles, 0.3, NOW, responses=1)
    known = json.loads(redis.hget(keys.host(HOST), "throttle") or b"")
    redis.hset(keys.host(HOST), "throttle", json.dumps({**known, "unheard_of": 1}))
    assert stored(redis, NOW).connections == START


def test_response_times_add_up_by_their_logarithms() -> None:
    times = ResponseTimes()
    for seconds in (0.1, 10.0):
        times.add(seconds, NOW)
    assert (times.window.responses, times.began) == (2, NOW - 10.0)
    assert math.exp(times.window.mean) == pytest.approx(1.0)
