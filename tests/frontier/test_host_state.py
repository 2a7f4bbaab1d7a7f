"""What is known of hosts is shared by all crawls."""

import pytest
from redis import Redis

from crawler.core.politeness import host_rules
from crawler.core.politeness.host_rules import HALF_LIFE_S, Throttle, after_responses, after_trouble
from crawler.frontier.host_state import HostState, HostStates

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


def test_trouble_is_remembered_until_answers_make_up_for_it(book: HostStates) -> None:
    book.observe(HOST, after_trouble, NOW, crawl="a", has_answered=False)
    book.observe(HOST, after_trouble, NOW, crawl="a", has_answered=False)
    assert book.read([HOST], NOW)[HOST] == HostState(throttle=Throttle(delay=0.5, troubles=2))
    book.observe(HOST, lambda known: after_responses(known, 0.1, 1), NOW, crawl="a", has_answered=True)
    assert book.read([HOST], NOW)[HOST] == HostState(throttle=Throttle(delay=0.25), has_answered=True)


def test_what_the_throttle_learned_halves_with_time(book: HostStates) -> None:
    for _ in range(6):
        book.observe(HOST, after_trouble, NOW, crawl="a", has_answered=False)
    assert book.read([HOST], NOW)[HOST].throttle == Throttle(8.0, 6)
    assert book.read([HOST], NOW + 2 * HALF_LIFE_S)[HOST].throttle == Throttle(2.0, 4)
    book.observe(HOST, after_trouble, NOW + 2 * HALF_LIFE_S, crawl="a", has_answered=False)
    assert book.read([HOST], NOW + 2 * HALF_LIFE_S)[HOST].throttle == Throttle(4.0, 5)


def test_how_long_answers_take_is_remembered_when_it_is_news(book: HostStates) -> None:
    told = []
    for seconds in (0.2, 0.21, 0.4):
        book.observe_responses(HOST, seconds, 1, NOW, crawl="a")
        told.append(book.read([HOST], NOW)[HOST].response_s)
    assert told == [0.2, 0.2, 0.4]


def test_a_host_is_compared_with_its_usual_response_time(book: HostStates) -> None:
    delays = [book.observe_responses(HOST, seconds, 1, NOW, crawl="a").delay for seconds in (2.0, 2.2, 6.0)]
    assert delays == [0.0, 0.0, pytest.approx(6.0 - 2 * 2.0 * host_rules.USUAL_GROWTH)]


def test_a_lasting_change_of_its_response_time_becomes_usual(book: HostStates) -> None:
    book.observe_responses(HOST, 0.5, 1, NOW, crawl="a")
    delays = [book.observe_responses(HOST, 4.0, 1, NOW, crawl="a").delay for _ in range(40)]
    assert delays[0] == pytest.approx(4.0 - 2 * 0.5 * host_rules.USUAL_GROWTH, abs=0.1)
    assert delays[-1] == 0.0


def test_what_is_known_of_a_host_is_forgotten_after_a_day(book: HostStates, redis: Redis) -> None:
    book.note_crawl_delay(HOST, 1)
    (key,) = redis.keys("*")
    assert 0 < redis.ttl(key) <= 86400
