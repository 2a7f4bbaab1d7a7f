"""The gate keeps one host's connections and delay over all workers and all crawls."""

from __future__ import annotations

import pytest
from redis import Redis

from crawler.core.politeness import LONGEST_STOP
from crawler.core.throttle import after_trouble
from crawler.frontier.gate import HEARD_WITHIN, HOLDER_SECONDS, Gate, Wish
from crawler.frontier.manners import HostBook

HOST = "example.com"
NOW = 1_000_000.0
ONE, TWO = Wish("a-crawl", connections=1), Wish("a-crawl", connections=2)
SLOW = Wish("a-crawl", delay=10, connections=2)


@pytest.fixture
def gate(redis: Redis) -> Gate:
    return Gate(redis, slot_seconds=10)


def asked(gate: Gate, wish: Wish, now: float, holder: str = "a") -> bool:
    """Whether a request could be sent now; then it is."""
    granted = gate.turn(HOST, holder, wish, now).granted
    if granted:
        gate.sent(HOST, holder, now)
    return granted


def test_no_more_holders_enter_than_the_host_has_connections(gate: Gate) -> None:
    assert gate.enter(HOST, "a", TWO, NOW)
    assert gate.enter(HOST, "b", TWO, NOW)
    assert not gate.enter(HOST, "c", TWO, NOW)


def test_of_two_crawls_the_fewest_connections_count(gate: Gate) -> None:
    gate.enter(HOST, "a", Wish("another", connections=1), NOW)
    assert not gate.enter(HOST, "b", TWO, NOW)


def test_the_wish_of_a_crawl_that_went_away_is_forgotten(gate: Gate) -> None:
    gate.enter(HOST, "a", Wish("another", connections=1), NOW)
    gate.leave(HOST, "a")
    assert gate.enter(HOST, "b", TWO, NOW + 11)
    assert gate.enter(HOST, "c", TWO, NOW + 11)


def test_a_holder_renews_its_own_slot(gate: Gate) -> None:
    gate.enter(HOST, "a", ONE, NOW)
    assert gate.enter(HOST, "a", ONE, NOW + 5)
    assert not gate.enter(HOST, "b", ONE, NOW + 14)


def test_a_slot_left_is_free(gate: Gate) -> None:
    gate.enter(HOST, "a", ONE, NOW)
    gate.leave(HOST, "a")
    assert gate.enter(HOST, "b", ONE, NOW)


def test_the_slot_of_a_dead_holder_is_free_after_a_while(gate: Gate) -> None:
    gate.enter(HOST, "a", ONE, NOW)
    assert gate.enter(HOST, "b", ONE, NOW + 10)


def test_turns_are_a_delay_apart(gate: Gate) -> None:
    wish = Wish("a-crawl", delay=0.5)
    gate.enter(HOST, "a", wish, NOW)
    moments = [NOW + step / 10 for step in range(16) if asked(gate, wish, NOW + step / 10)]
    assert moments == [NOW, NOW + 0.5, NOW + 1.0, NOW + 1.5]


def test_without_a_delay_everybody_has_a_turn(gate: Gate) -> None:
    assert gate.turn(HOST, "a", TWO, NOW).granted
    assert gate.turn(HOST, "b", TWO, NOW).granted


def test_who_comes_too_soon_is_told_when_to_come_again_and_takes_nothing(gate: Gate) -> None:
    gate.enter(HOST, "a", SLOW, NOW)
    asked(gate, SLOW, NOW)
    for _ in range(2):
        turn = gate.turn(HOST, "b", SLOW, NOW + 1)
        assert not turn.granted
        assert turn.next_at == pytest.approx(NOW + 10, abs=1e-5)


def test_the_delay_counts_from_the_moment_the_request_was_sent(gate: Gate) -> None:
    gate.enter(HOST, "a", SLOW, NOW)
    gate.turn(HOST, "a", SLOW, NOW)
    gate.sent(HOST, "a", NOW + 3)
    assert not gate.turn(HOST, "b", SLOW, NOW + 12.9).granted
    assert gate.turn(HOST, "b", SLOW, NOW + 13).granted


def test_while_one_who_has_a_turn_is_held_up_nobody_else_has_one(gate: Gate) -> None:
    wish = Wish("a-crawl", delay=1)
    gate.enter(HOST, "a", wish, NOW)
    gate.turn(HOST, "a", wish, NOW)
    assert not gate.turn(HOST, "b", wish, NOW + HOLDER_SECONDS - 0.1).granted


def test_one_who_had_a_turn_and_died_is_not_waited_for_for_ever(gate: Gate) -> None:
    wish = Wish("a-crawl", delay=1)
    gate.enter(HOST, "a", wish, NOW)
    gate.turn(HOST, "a", wish, NOW)
    assert gate.turn(HOST, "b", wish, NOW + HOLDER_SECONDS).granted


def test_hosts_do_not_wait_for_one_another(gate: Gate) -> None:
    asked(gate, SLOW, NOW)
    assert gate.turn("other.example", "a", TWO, NOW).granted


def test_of_two_crawls_the_longest_delay_counts(gate: Gate) -> None:
    gate.enter(HOST, "a", SLOW, NOW)
    asked(gate, SLOW, NOW)
    hurried = Wish("another", delay=0)
    assert not gate.turn(HOST, "b", hurried, NOW + 9).granted
    assert gate.turn(HOST, "b", hurried, NOW + 10).delay == 10


def test_a_crawl_with_a_delay_begins_once_those_without_one_have_heard_of_it(gate: Gate) -> None:
    gate.enter(HOST, "a", Wish("another", connections=2), NOW)
    gate.enter(HOST, "b", SLOW, NOW)
    turn = gate.turn(HOST, "b", SLOW, NOW)
    assert not turn.granted
    assert turn.next_at == pytest.approx(NOW + HEARD_WITHIN + 10, abs=1e-5)


def test_a_crawl_delay_that_is_learnt_counts_from_that_moment(gate: Gate) -> None:
    """robots.txt was asked for just then."""
    gate.enter(HOST, "a", ONE, NOW)
    gate.turn(HOST, "a", ONE, NOW)
    assert not gate.turn(HOST, "a", Wish("a-crawl", delay=2), NOW + 0.1).granted


@pytest.mark.parametrize("delay", [60 / 45, 60 / 18, 0.1 + 0.2, 1 / 3])
def test_a_delay_with_many_digits_is_no_longer_than_itself(gate: Gate, delay: float) -> None:
    wish = Wish("crawl", delay=delay)
    gate.enter(HOST, "one", wish, NOW)
    assert gate.turn(HOST, "one", wish, NOW).granted
    gate.sent(HOST, "one", NOW)
    assert gate.turn(HOST, "one", wish, NOW + delay + 0.001).granted


def test_a_host_that_asks_for_peace_is_asked_by_nobody(gate: Gate) -> None:
    until = gate.stop(HOST, 30, NOW)
    turn = gate.turn(HOST, "a", TWO, NOW + 29)
    assert (turn.granted, turn.next_at) == (False, until)
    assert gate.turn(HOST, "a", TWO, NOW + 30).granted


def test_a_shorter_wish_for_peace_does_not_end_a_longer_one(gate: Gate) -> None:
    gate.stop(HOST, 30, NOW)
    gate.stop(HOST, 5, NOW)
    assert not gate.turn(HOST, "a", TWO, NOW + 29).granted


def test_nobody_is_left_in_peace_for_ever(gate: Gate) -> None:
    assert gate.stop(HOST, 10**9, NOW) == NOW + LONGEST_STOP


def test_the_throttle_counts_for_those_who_want_it(gate: Gate, redis: Redis) -> None:
    HostBook(redis).observe(HOST, after_trouble, has_answered=False)
    assert gate.turn(HOST, "a", TWO, NOW).delay == 0.25
    assert gate.turn(HOST, "b", Wish("another", throttled=False), NOW).delay == 0.0
