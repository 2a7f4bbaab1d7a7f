"""The gate keeps one host's connections and delay over all workers."""

from __future__ import annotations

import pytest
from redis import Redis

from crawler.frontier.gate import Gate

HOST = "example.com"
NOW = 1_000_000.0


@pytest.fixture
def gate(redis: Redis) -> Gate:
    return Gate(redis, slot_seconds=10)


def test_no_more_holders_enter_than_the_host_has_connections(gate: Gate) -> None:
    assert gate.enter(HOST, "a", 2, NOW)
    assert gate.enter(HOST, "b", 2, NOW)
    assert not gate.enter(HOST, "c", 2, NOW)


def test_a_holder_renews_its_own_slot(gate: Gate) -> None:
    gate.enter(HOST, "a", 1, NOW)
    assert gate.enter(HOST, "a", 1, NOW + 5)
    assert not gate.enter(HOST, "b", 1, NOW + 14)


def test_a_slot_left_is_free(gate: Gate) -> None:
    gate.enter(HOST, "a", 1, NOW)
    gate.leave(HOST, "a")
    assert gate.enter(HOST, "b", 1, NOW)


def test_the_slot_of_a_dead_holder_is_free_after_a_while(gate: Gate) -> None:
    gate.enter(HOST, "a", 1, NOW)
    assert gate.enter(HOST, "b", 1, NOW + 10)


def test_turns_are_a_delay_apart(gate: Gate) -> None:
    moments = [NOW + step / 10 for step in range(16) if gate.turn(HOST, 0.5, NOW + step / 10).granted]
    assert moments == [NOW, NOW + 0.5, NOW + 1.0, NOW + 1.5]


def test_who_comes_too_soon_is_told_when_to_come_again_and_takes_nothing(gate: Gate) -> None:
    gate.turn(HOST, 10, NOW)
    for _ in range(2):
        turn = gate.turn(HOST, 10, NOW + 1)
        assert not turn.granted
        assert turn.next_at == pytest.approx(NOW + 10, abs=1e-5)


def test_who_comes_late_makes_the_next_one_wait_a_whole_delay(gate: Gate) -> None:
    gate.turn(HOST, 10, NOW)
    gate.turn(HOST, 10, NOW + 13)
    assert not gate.turn(HOST, 10, NOW + 22.9).granted
    assert gate.turn(HOST, 10, NOW + 23).granted


def test_hosts_do_not_wait_for_one_another(gate: Gate) -> None:
    gate.turn(HOST, 60, NOW)
    assert gate.turn("other.example", 60, NOW).granted


def test_a_crawl_delay_is_remembered(gate: Gate) -> None:
    assert gate.crawl_delay(HOST) is None
    gate.note_crawl_delay(HOST, 2.5)
    assert gate.crawl_delay(HOST) == 2.5
