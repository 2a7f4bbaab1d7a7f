"""A slice holds a connection of its host from its beginning to its end, and no longer."""

from typing import Any

import pytest

from crawler.clock import Clock
from crawler.fetcher.connection_slot import END_MARGIN_S
from crawler.fetcher.host_slot import BEGIN_MARGIN_S, SLOT_RETRY_S, HostSlot, RateLimited, SharedGrants
from crawler.frontier import keys
from crawler.frontier.host_limiter import POLICY_RECHECK_S, Grant, HostLimiter, HostPolicy, SlotResult
from crawler.frontier.host_state import HostStates
from crawler.queueing import queues

HOST = "example.com"
NOW = 1_000_000.0


TTL = 10.0  # seconds a slot lasts


@pytest.fixture
def limiter() -> HostLimiter:
    return HostLimiter(queues.connection(), TTL)


class Moment:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def moment() -> Moment:
    return Moment()


def turns(
    limiter: HostLimiter,
    holder: str,
    now: Clock = lambda: NOW,
    delay: float = 0.0,
    grants: SharedGrants | None = None,
    connections: int = 1,
) -> HostSlot:
    policy = HostPolicy("a-crawl", delay, connections)
    grants = SharedGrants() if grants is None else grants
    return HostSlot(limiter, HostStates(queues.connection()), HOST, holder, policy, now, now, grants)


def forget() -> None:
    """Slots expired, or Redis lost its data."""
    queues.connection().delete(keys.host_slots(HOST))


def renew(slot: HostSlot) -> None:
    """What the heartbeat does."""
    with queues.connection().pipeline(transaction=False) as pipe:
        asked_at = slot.renew(pipe)
        (answer,) = pipe.execute()
    assert asked_at is not None
    slot.note_renewed(asked_at, answer)


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
    limiter: HostLimiter, moment: Moment, delay: float
) -> None:
    first, second = (turns(limiter, holder, moment, delay) for holder in ("first", "second"))
    assert first.begin()
    assert first.take_grant() is None
    first.note_sent()
    forget()
    assert second.begin()
    moment.at += TTL - BEGIN_MARGIN_S
    assert first.take_grant() == RateLimited(moment.at + SLOT_RETRY_S)
    second.end()
    moment.at += 1.0
    assert first.take_grant() is None
    assert not second.begin()


def test_a_slot_that_is_renewed_is_not_asked_for_again(limiter: HostLimiter, moment: Moment) -> None:
    first, second = (turns(limiter, holder, moment) for holder in ("first", "second"))
    first.begin()
    moment.at += TTL - BEGIN_MARGIN_S - 0.1
    renew(first)
    forget()  # it cannot be seen: Redis confirmed the slot a moment ago
    assert second.begin()
    moment.at += TTL - BEGIN_MARGIN_S - 0.1
    assert first.take_grant() is None
    assert first.is_valid()


def test_a_request_under_way_may_not_outlast_its_slot(limiter: HostLimiter, moment: Moment) -> None:
    first = turns(limiter, "first", moment)
    first.begin()
    moment.at += TTL - END_MARGIN_S - 0.1
    assert first.is_valid()
    moment.at += 0.1
    assert not first.is_valid()


def test_a_slot_is_valid_from_when_it_was_asked_for_however_late_the_answer_comes(moment: Moment) -> None:
    class Slow(HostLimiter):
        def take_slot(self, *asked: Any) -> SlotResult:
            entry = super().take_slot(*asked)
            moment.at += TTL - END_MARGIN_S
            return entry

    first = turns(Slow(queues.connection(), TTL), "first", moment)
    assert first.begin()
    assert not first.is_valid()
    assert isinstance(first.take_grant(), RateLimited)  # nor does it help to ask again


def test_a_renewal_that_is_refused_ends_the_request_under_way(limiter: HostLimiter, moment: Moment) -> None:
    first, second = (turns(limiter, holder, moment) for holder in ("first", "second"))
    first.begin()
    forget()
    second.begin()
    moment.at += 1.0
    renew(first)
    assert not first.is_valid()
    assert isinstance(first.take_grant(), RateLimited)


def test_a_refusal_that_comes_after_a_later_answer_changes_nothing(limiter: HostLimiter, moment: Moment) -> None:
    first = turns(limiter, "first", moment)
    first.begin()
    first.note_renewed(moment.at - 1.0, SlotResult.NONE_FREE)
    assert first.is_valid()


def test_a_connection_whose_slot_is_about_to_expire_is_not_kept(limiter: HostLimiter, moment: Moment) -> None:
    first = turns(limiter, "first", moment)
    first.begin()
    moment.at += TTL - END_MARGIN_S
    assert first.detach() is None


def grants_asked_for(limiter: HostLimiter, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """By which holders."""
    asked: list[str] = []
    request = limiter.request_grant

    def count(host: str, holder: str, policy: HostPolicy, now: float) -> Grant:
        asked.append(holder)
        return request(host, holder, policy, now)

    monkeypatch.setattr(limiter, "request_grant", count)
    return asked


@pytest.mark.parametrize(("delay", "limit", "asked"), [(0.0, 2, ["a"]), (0.0, 1, ["a", "b"]), (5.0, 2, ["a", "b"])])
def test_the_slots_of_a_worker_share_a_grant_unless_there_is_a_delay_or_one_slot_too_many(
    delay: float, limit: int, asked: list[str], limiter: HostLimiter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moments later each of them asks again."""
    grants, moment = SharedGrants(), Moment()
    slots = [turns(limiter, holder, moment, delay, grants, connections=2) for holder in "ab"]
    assert all(slot.begin() for slot in slots)
    queues.connection().hset(keys.host(HOST), mapping={"limit": limit, "delay": 0, "delay_at": NOW})
    found = grants_asked_for(limiter, monkeypatch)
    for slot in slots:
        slot.take_grant()
    assert found == asked
    moment.at += 2 * POLICY_RECHECK_S
    slots[1].take_grant()
    assert found == [*asked, "b"]


def test_no_slot_of_a_worker_uses_a_grant_from_before_a_refusal(
    limiter: HostLimiter, monkeypatch: pytest.MonkeyPatch
) -> None:
    grants = SharedGrants()
    slots = [turns(limiter, holder, grants=grants, connections=2) for holder in "ab"]
    assert all(slot.begin() for slot in slots)
    assert slots[0].take_grant() is None
    slots[0].record_refusal(f"http://{HOST}/", 429, 60.0)
    assert isinstance(slots[1].take_grant(), RateLimited)
