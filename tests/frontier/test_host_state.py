"""What is known of hosts is shared by all crawls."""

import pytest
from redis import Redis

from crawler.frontier.host_state import HostState, HostStates
from crawler.frontier.host_throttle import ResponseTimes

HOST = "example.com"
NOW = 1_000_000.0


@pytest.fixture
def book(redis: Redis) -> HostStates:
    return HostStates(redis)


def test_of_a_host_never_heard_of_nothing_is_known(book: HostStates) -> None:
    assert book.read([HOST], NOW) == {HOST: HostState()}


def test_a_crawl_delay_is_remembered(book: HostStates) -> None:
    book.note_crawl_delay(HOST, 2.5)
    assert book.read([HOST], NOW)[HOST].crawl_delay == 2.5


def test_that_it_responded_is_remembered(book: HostStates) -> None:
    book.note_response(HOST)
    assert book.read([HOST], NOW)[HOST] == HostState(has_answered=True)


def test_its_response_time_is_the_throttle_s(book: HostStates) -> None:
    times = ResponseTimes()
    times.add(0.2, NOW)
    book.throttles.note_responses(HOST, times, NOW, "a-crawl")
    known = book.read([HOST], NOW)[HOST]
    assert known.has_answered
    assert known.response_s == pytest.approx(0.2)


def test_what_is_known_of_a_host_is_forgotten_after_a_day(book: HostStates, redis: Redis) -> None:
    book.note_crawl_delay(HOST, 1)
    (key,) = redis.keys("*")
    assert 0 < redis.ttl(key) <= 86400
