"""What is known of hosts is shared by all crawls; how long one has not answered is kept for each crawl apart."""

import pytest
from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_state import FailureStreak, HostState, HostStates
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


def test_of_a_host_that_answers_nothing_is_kept(frontier: Frontier) -> None:
    assert frontier.unresponsive_hosts.get(HOST) is None


def test_times_are_counted_from_the_first_one(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    assert frontier.unresponsive_hosts.record_failure(HOST, Outcome.TIMEOUT, 15.0) == FailureStreak(
        2, 10.0, Outcome.TIMEOUT
    )
    assert frontier.unresponsive_hosts.get(HOST) == FailureStreak(2, 10.0, Outcome.TIMEOUT)


def test_unresponsive_hosts_are_distinguished_from_others(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    assert frontier.unresponsive_hosts.among([HOST, "other.example"]) == {HOST}


def test_an_answer_ends_it(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    frontier.unresponsive_hosts.remove(HOST)
    assert frontier.unresponsive_hosts.get(HOST) is None


def test_retried_dead_letters_reset_unresponsive_hosts(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    frontier.requeue_dead_letters(None)
    assert frontier.unresponsive_hosts.get(HOST) is None
