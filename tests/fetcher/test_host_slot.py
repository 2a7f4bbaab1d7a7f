"""A slice holds a connection of its host from its beginning to its end, and no longer."""

from __future__ import annotations

import pytest

from crawler.clock import Clock
from crawler.fetcher.host_slot import SLOT_CHECK_S, SLOT_RETRY_S, HostSlot, RateLimited
from crawler.frontier import keys
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostStates
from crawler.queueing import queues

HOST = "example.com"
NOW = 1_000_000.0


@pytest.fixture
def limiter() -> HostLimiter:
    return HostLimiter(queues.connection(), 10)


def turns(limiter: HostLimiter, holder: str, now: Clock = lambda: NOW, delay: float = 0.0) -> HostSlot:
    policy = HostPolicy("a-crawl", delay)
    return HostSlot(limiter, HostStates(queues.connection()), HOST, holder, policy, now)


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


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_after_an_outage_nothing_is_requested_over_a_connection_that_another_slice_has_by_now(
    limiter: HostLimiter, delay: float
) -> None:
    moments = [NOW]
    first, second = (turns(limiter, holder, lambda: moments[-1], delay) for holder in ("first", "second"))
    assert first.begin()
    assert first.take_grant() is None
    first.note_sent()
    queues.connection().delete(keys.host_slots(HOST))  # it expired, or Redis lost its data
    assert second.begin()
    moments.append(NOW + SLOT_CHECK_S + 0.1)
    assert first.take_grant() == RateLimited(moments[-1] + SLOT_RETRY_S)
    second.end()
    moments.append(moments[-1] + 1.0)
    assert first.take_grant() is None
    assert not second.begin()
