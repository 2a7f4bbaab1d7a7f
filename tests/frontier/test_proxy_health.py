"""Which proxies are left out is known to all workers of a crawl, and for a minute."""

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NoConnection

from crawler.frontier.frontier import Frontier
from crawler.frontier.proxy_health import LEFT_OUT_S, MAX_FAILURES, ProxyHealth


def health(frontier: Frontier, now: float = 100.0) -> ProxyHealth:
    return ProxyHealth(frontier.redis, frontier.keys, lambda: now)


def fail(frontier: Frontier, number: int, times: int = MAX_FAILURES) -> None:
    for _ in range(times):
        health(frontier).note_failure(number)


def test_it_is_left_out_after_some_failures_in_a_row_for_a_while(frontier: Frontier) -> None:
    fail(frontier, 1, MAX_FAILURES - 1)
    assert health(frontier).left_out() == {}
    fail(frontier, 1, 1)
    assert health(frontier).left_out() == {1: 100.0 + LEFT_OUT_S}
    assert health(frontier, 100.0 + LEFT_OUT_S).left_out() == {}


def test_a_success_in_between_counts(frontier: Frontier) -> None:
    fail(frontier, 0, MAX_FAILURES - 1)
    reading = health(frontier)
    reading.left_out()
    reading.note_success(0)
    fail(frontier, 0, MAX_FAILURES - 1)
    assert health(frontier).left_out() == {}


def test_a_success_of_one_that_did_not_fail_asks_redis_nothing(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Redis, "execute_command", lambda *_, **__: pytest.fail("Redis was asked"))
    health(frontier).note_success(0)


def test_it_goes_with_the_crawl(frontier: Frontier) -> None:
    fail(frontier, 0)
    frontier.delete()
    assert health(frontier).left_out() == {}


def test_without_redis_none_is_left_out(frontier: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise NoConnection

    fail(frontier, 0)
    monkeypatch.setattr(Redis, "execute_command", away)
    reading = health(frontier)
    assert reading.left_out() == {}
    reading.note_failure(1)
