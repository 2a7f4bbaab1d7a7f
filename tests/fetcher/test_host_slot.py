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
def limiter() -> HostLimiter:
    return HostLimiter(queues.connection(), 10)


def turns(limiter: HostLimiter, holder: str) -> HostSlot:
    return HostSlot(limiter, HostStates(queues.connection()), HOST, holder, HostPolicy("a-crawl"), lambda: NOW)


def test_a_slice_that_ended_does_not_take_its_connection_again(limiter: HostLimiter) -> None:
    """Its batch's heartbeat goes on while other slices of the batch do."""
    first = turns(limiter, "first")
    assert first.begin()
    first.end()
    first.renew(queues.connection())
    assert turns(limiter, "second").begin()


def test_a_slice_that_found_no_connection_does_not_take_one_later(limiter: HostLimiter) -> None:
    holder, late = turns(limiter, "holder"), turns(limiter, "late")
    holder.begin()
    assert not late.begin()
    holder.end()
    late.renew(queues.connection())
    assert turns(limiter, "next").begin()


def test_renewing_keeps_the_connection(limiter: HostLimiter) -> None:
    first = turns(limiter, "first")
    first.begin()
    first.renew(queues.connection())
    assert not turns(limiter, "second").begin()
