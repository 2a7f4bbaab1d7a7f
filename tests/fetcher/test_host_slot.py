"""A slice holds a connection of its host from its beginning to its end, and no longer."""

from __future__ import annotations

import pytest

from crawler.fetcher.host_slot import HostSlot
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostStates
from crawler.queueing import queues

HOST = "example.com"
NOW = 1_000_000.0


@pytest.fixture
def gate() -> HostLimiter:
    return HostLimiter(queues.connection(), 10)


def turns(gate: HostLimiter, holder: str) -> HostSlot:
    return HostSlot(gate, HostStates(queues.connection()), HOST, holder, HostPolicy("a-crawl"), lambda: NOW)


def test_a_slice_that_ended_does_not_take_its_connection_again(gate: HostLimiter) -> None:
    """Its batch's heartbeat goes on while other slices of the batch do."""
    first = turns(gate, "first")
    assert first.begin()
    first.end()
    first.renew(queues.connection())
    assert turns(gate, "second").begin()


def test_a_slice_that_found_no_connection_does_not_take_one_later(gate: HostLimiter) -> None:
    holder, late = turns(gate, "holder"), turns(gate, "late")
    holder.begin()
    assert not late.begin()
    holder.end()
    late.renew(queues.connection())
    assert turns(gate, "next").begin()


def test_renewing_keeps_the_connection(gate: HostLimiter) -> None:
    first = turns(gate, "first")
    first.begin()
    first.renew(queues.connection())
    assert not turns(gate, "second").begin()
