"""What `bin/bench idle` makes of its measurements."""

from __future__ import annotations

import pytest

from tools.bench.arguments import parse
from tools.bench.idle import STATES, Cost


def test_what_all_workers_took_is_told_for_each() -> None:
    cost = Cost("waiting", 4, 50.0, 0.4, {"blpop": 200, "set": 100}, 30)
    assert (cost.percent, cost.commands_a_second) == (pytest.approx(0.2), 1.5)
    assert cost.line().split()[:7] == ["waiting", "4", "0.20", "1.5", "0.15", "blpop", "200,"]


def test_without_postgresql_no_transactions_are_told() -> None:
    assert Cost("none", 1, 10.0, 0.0, {"set": 1}, None).line().split()[:5] == ["none", "1", "0.00", "0.1", "set"]


def test_all_states_are_measured_unless_some_are_named() -> None:
    assert parse(["idle"]).states == list(STATES)
    assert parse(["idle", "none", "paused"]).states == ["none", "paused"]
