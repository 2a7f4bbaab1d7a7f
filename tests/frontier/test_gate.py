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
    moments = [gate.reserve(HOST, 0.5, patience=9, now=NOW).at for _ in range(4)]
    assert moments == pytest.approx([NOW, NOW + 0.5, NOW + 1.0, NOW + 1.5], abs=1e-5)


def test_a_turn_too_far_away_is_told_but_not_reserved(gate: Gate) -> None:
    gate.reserve(HOST, 10, patience=2, now=NOW)
    for _ in range(2):
        turn = gate.reserve(HOST, 10, patience=2, now=NOW)
        assert not turn.reserved
        assert turn.at == pytest.approx(NOW + 10, abs=1e-5)


def test_hosts_do_not_wait_for_one_another(gate: Gate) -> None:
    gate.reserve(HOST, 60, patience=2, now=NOW)
    assert gate.reserve("other.example", 60, patience=2, now=NOW).reserved


def test_a_crawl_delay_is_remembered(gate: Gate) -> None:
    assert gate.crawl_delay(HOST) is None
    gate.note_crawl_delay(HOST, 2.5)
    assert gate.crawl_delay(HOST) == 2.5
