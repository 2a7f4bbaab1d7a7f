"""A lease is claimed once, lives while it is renewed, and is settled once."""

import threading
from collections.abc import Callable

import pytest
from redis import ConnectionError as RedisAway

from crawler.core.politeness.host_rules import Pace
from crawler.frontier.frontier import Frontier
from crawler.frontier.leases import LEASE_TTL_S, Heartbeat
from crawler.frontier.ready_queue import JOB_CHECK_INTERVAL_S, QueueItem
from tests.frontier.conftest import GivenClock, dequeue

HOST = "example.com"
BATCH, TOKEN = "b1", "t1"


@pytest.fixture
def handed_out(frontier: Frontier) -> Frontier:
    """Pages 1 and 2 are in slice 0 of a batch, page 3 in slice 1."""
    frontier.ready_queue.enqueue(QueueItem(page, HOST, 0.0) for page in (1, 2, 3))
    frontier.ready_queue.set_paces({HOST: Pace(slices=2, pages=2)})
    dequeue(frontier, BATCH, TOKEN, 0)
    dequeue(frontier, BATCH, TOKEN, 1)
    return frontier


def claim(frontier: Frontier, token: str = TOKEN) -> bool:
    return frontier.leases.claim(BATCH, token, frontier.now())


def settle(frontier: Frontier, number: int, *still_open: int, next_at: float = 0) -> bool:
    return frontier.leases.complete_slice(
        BATCH, TOKEN, number, HOST, [QueueItem(page, HOST, 0) for page in still_open], next_at
    )


def picked(frontier: Frontier) -> list[int]:
    """What is handed out now, as another batch."""
    found = dequeue(frontier, "b2", "t2", 0)
    return found.pages if found else []


def waiting(frontier: Frontier) -> int:
    return frontier.ready_queue.counts(frontier.now()).waiting


def overdue(frontier: Frontier) -> list[str]:
    return [lease.batch for lease in frontier.leases.overdue(frontier.now())]


def test_only_the_first_to_come_claims_a_batch(handed_out: Frontier) -> None:
    assert claim(handed_out)
    assert not claim(handed_out)


def test_a_stale_token_claims_nothing(handed_out: Frontier) -> None:
    assert not claim(handed_out, "t0")


def test_a_lease_tells_its_slices(handed_out: Frontier) -> None:
    lease = handed_out.leases.get(BATCH)
    assert lease is not None
    assert lease.slices == {0: (HOST, (1, 2)), 1: (HOST, (3,))}
    assert not lease.held


def test_a_waiting_batch_is_looked_at_after_a_while(handed_out: Frontier, clock: GivenClock) -> None:
    assert overdue(handed_out) == []
    clock.move(JOB_CHECK_INTERVAL_S)
    assert overdue(handed_out) == [BATCH]


def test_a_look_can_be_put_off(handed_out: Frontier, clock: GivenClock) -> None:
    clock.move(JOB_CHECK_INTERVAL_S)
    (lease,) = handed_out.leases.overdue(clock.time)
    handed_out.leases.postpone_check(lease, clock.time + JOB_CHECK_INTERVAL_S, absent_since=clock.time)
    assert overdue(handed_out) == []
    clock.move(JOB_CHECK_INTERVAL_S)
    (again,) = handed_out.leases.overdue(clock.time)
    assert again.absent_since == clock.time - JOB_CHECK_INTERVAL_S


def test_putting_a_look_off_leaves_the_later_one_of_a_holder_that_renewed_meanwhile(
    handed_out: Frontier, clock: GivenClock
) -> None:
    claim(handed_out)
    clock.move(LEASE_TTL_S)
    (lease,) = handed_out.leases.overdue(clock.time)
    handed_out.leases.renew(BATCH, TOKEN, clock.time)
    handed_out.leases.postpone_check(lease, clock.time + 1, absent_since=None)
    clock.move(LEASE_TTL_S - 1)
    assert overdue(handed_out) == []


def test_a_claim_runs_out_unless_renewed(handed_out: Frontier, clock: GivenClock) -> None:
    claim(handed_out)
    clock.move(LEASE_TTL_S - 1)
    assert handed_out.leases.renew(BATCH, TOKEN, clock.time)
    clock.move(LEASE_TTL_S - 1)
    assert overdue(handed_out) == []
    clock.move(1)
    assert overdue(handed_out) == [BATCH]


def test_renewing_with_a_stale_token_is_refused(handed_out: Frontier, clock: GivenClock) -> None:
    claim(handed_out)
    assert not handed_out.leases.renew(BATCH, "t0", clock.time)


def test_settling_the_last_slice_ends_the_lease(handed_out: Frontier) -> None:
    claim(handed_out)
    assert settle(handed_out, 0)
    assert handed_out.leases.outstanding() == 1
    assert settle(handed_out, 1)
    assert handed_out.leases.outstanding() == 0
    assert handed_out.ready_queue.handed_out() == 0


def test_settling_twice_changes_nothing(handed_out: Frontier) -> None:
    settle(handed_out, 0, 1)
    assert not settle(handed_out, 0, 1, 2)
    assert waiting(handed_out) == 1


def test_settling_with_a_stale_token_changes_nothing(handed_out: Frontier) -> None:
    assert not handed_out.leases.complete_slice(BATCH, "t0", 0, HOST, [QueueItem(1, HOST, 0)], 0)
    assert (waiting(handed_out), handed_out.ready_queue.handed_out()) == (0, 3)


def test_pages_still_open_go_back_and_can_be_handed_out_again(handed_out: Frontier) -> None:
    settle(handed_out, 0, 2)
    assert picked(handed_out) == [2]


def test_settling_frees_the_hosts_connection(handed_out: Frontier) -> None:
    handed_out.ready_queue.enqueue([QueueItem(4, HOST, 0.0)])
    assert picked(handed_out) == []
    settle(handed_out, 0)
    assert picked(handed_out) == [4]


def test_a_host_is_left_in_peace_until_the_given_moment(handed_out: Frontier, clock: GivenClock) -> None:
    settle(handed_out, 0, 1, next_at=clock.time + 10)
    assert picked(handed_out) == []
    clock.move(10)
    assert picked(handed_out) == [1]


def test_a_lease_whose_record_was_forgotten_is_dropped(handed_out: Frontier, clock: GivenClock) -> None:
    handed_out.redis.delete(handed_out.keys.lease(BATCH))
    clock.move(LEASE_TTL_S)
    assert overdue(handed_out) == []
    assert handed_out.leases.outstanding() == 0


def test_putting_off_a_look_at_a_lease_that_is_gone_leaves_nothing(handed_out: Frontier) -> None:
    lease = handed_out.leases.get(BATCH)
    assert lease is not None
    handed_out.clear()
    handed_out.leases.postpone_check(lease, 1e9, absent_since=1.0)
    assert not handed_out.redis.keys(f"*:lease:{BATCH}")


PATIENCE = 10.0  # seconds for a thread


def beating(renew: Callable[[], bool], clock: GivenClock) -> Heartbeat:
    return Heartbeat(renew, every=0.001, now=clock)


def away() -> bool:
    raise RedisAway


def test_a_lease_that_is_not_renewed_is_lost_when_it_runs_out(clock: GivenClock) -> None:
    with beating(away, clock) as heartbeat:
        clock.move(LEASE_TTL_S - 0.1)
        assert not heartbeat.is_lost()
        clock.move(0.1)
        assert heartbeat.is_lost()


def test_it_is_lost_while_a_renewal_still_waits_for_redis(clock: GivenClock) -> None:
    begun, answered = threading.Event(), threading.Event()

    def hanging() -> bool:
        begun.set()
        return answered.wait(PATIENCE)

    with beating(hanging, clock) as heartbeat:
        assert begun.wait(PATIENCE)
        clock.move(LEASE_TTL_S)
        is_lost = heartbeat.is_lost()
        answered.set()
    assert is_lost


def test_a_renewal_that_succeeds_counts_from_its_beginning(clock: GivenClock) -> None:
    times = [0.0, LEASE_TTL_S / 2]
    renewed = threading.Event()

    def slow() -> bool:
        if not times:
            renewed.set()
            return renewed.wait() and away()
        clock.move(times.pop())
        return True

    with beating(slow, clock) as heartbeat:
        assert renewed.wait(PATIENCE)
        clock.move(LEASE_TTL_S - 0.1)
        assert not heartbeat.is_lost()
        clock.move(0.1)
        assert heartbeat.is_lost()


def test_a_lease_that_is_refused_is_lost_at_once(clock: GivenClock) -> None:
    refused = threading.Event()
    with beating(lambda: refused.set() or False, clock) as heartbeat:
        assert refused.wait(PATIENCE)
    assert heartbeat.is_lost()
