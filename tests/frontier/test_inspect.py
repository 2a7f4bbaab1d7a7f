"""A glance shows what a crawl waits for, and changes nothing."""

import pytest
from redis import Redis

from crawler.core.protocol.completion import QueueSide
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostStates
from crawler.frontier.inspect import PolicyInUse, take_snapshot
from crawler.frontier.leases import LEASE_TTL_S
from crawler.frontier.ready_queue import Level, QueueItem
from tests.frontier.conftest import GivenClock, dequeue

HOST = "example.com"
WISH = HostPolicy("a-crawl", delay=5, connections=4)


@pytest.fixture
def limiter(redis: Redis) -> HostLimiter:
    return HostLimiter(redis, LEASE_TTL_S)


def test_of_an_unknown_crawl_nothing_is_seen(frontier: Frontier, clock: GivenClock) -> None:
    seen = take_snapshot(frontier, 10)
    assert seen.now == clock.time
    assert seen.queue_side == QueueSide(results=0, leases=0, hosts=0, dirty=False)
    assert (seen.hosts, seen.leases, seen.handed_out, seen.has_cursor) == ([], [], 0, False)
    assert (seen.lock_left, seen.mark, seen.last_tick) == (None, None, None)


def test_a_host_shows_what_holds_it_back(frontier: Frontier, limiter: HostLimiter, clock: GivenClock) -> None:
    frontier.ready_queue.enqueue([QueueItem(7, HOST, clock.time + 3), QueueItem(8, HOST, clock.time + 9)])
    frontier.redis.hset(frontier.keys.rest, HOST, str(clock.time + 2))
    HostStates(frontier.redis).note_crawl_delay(HOST, 5)
    limiter.take_slot(HOST, "b", WISH, clock.time - 2 * LEASE_TTL_S)  # its holder died
    limiter.take_slot(HOST, "a", WISH, clock.time)
    limiter.request_grant(HOST, "a", WISH, clock.time)
    [seen] = take_snapshot(frontier, 10).hosts
    assert (seen.host, seen.lane, seen.pages) == (HOST, HOST, 2)
    assert (seen.first_page, seen.first_due) == (7, clock.time + 3)
    assert (seen.next_at, seen.rest_until) == (clock.time + 3, clock.time + 2)
    shared = seen.shared
    assert (shared.asked_at, shared.policies) == (clock.time, {"a-crawl": PolicyInUse(delay=5.0, connections=4)})
    assert (shared.state.crawl_delay, shared.connections) == (5.0, 1)


def test_a_lane_of_suspects_has_the_wait_of_its_host(
    frontier: Frontier, limiter: HostLimiter, clock: GivenClock
) -> None:
    frontier.ready_queue.enqueue([QueueItem(7, f"{HOST}|8", 0)])
    limiter.take_slot(HOST, "a", WISH, clock.time)
    limiter.request_grant(HOST, "a", WISH, clock.time)
    [seen] = take_snapshot(frontier, 10).hosts
    assert (seen.host, seen.lane, seen.shared.asked_at) == (HOST, f"{HOST}|8", clock.time)


def test_connections_of_a_host_are_listed_by_crawl_without_expired_policies(
    frontier: Frontier, limiter: HostLimiter, clock: GivenClock
) -> None:
    frontier.ready_queue.enqueue([QueueItem(7, HOST, 0)])
    limiter.take_slot(HOST, "gone:b:0", HostPolicy("gone", delay=60, connections=1), clock.time - 200)
    for holder in ("mine:b:0", "other:b:0", "other:b:1", "of an earlier version:0"):
        limiter.take_slot(HOST, holder, HostPolicy("mine", connections=9), clock.time)
    [seen] = take_snapshot(frontier, 10).hosts
    assert seen.shared.slots == {"mine": 1, "other": 2, "": 1}
    assert seen.shared.policies == {"mine": PolicyInUse(delay=0.0, connections=9)}


def test_hosts_in_the_hands_of_a_worker_are_seen_too(frontier: Frontier, clock: GivenClock) -> None:
    frontier.ready_queue.enqueue([QueueItem(7, HOST, 0), QueueItem(8, "waits.test", clock.time + 9)])
    dequeue(frontier, "b1", "token", 0)
    assert take_snapshot(frontier, 10).held_hosts == {}
    frontier.leases.claim("b1", "token", clock.time, "here:42")
    assert list(take_snapshot(frontier, 10).held_hosts) == [HOST]


def test_of_many_hosts_the_next_ones_are_seen(frontier: Frontier, clock: GivenClock) -> None:
    frontier.ready_queue.enqueue(
        QueueItem(number, f"host{number}.test", clock.time + 50 - number) for number in range(50)
    )
    seen = take_snapshot(frontier, 2)
    assert [host.host for host in seen.hosts] == ["host49.test", "host48.test"]
    assert seen.queue_side.hosts == 50


def test_batches_lock_and_tick_are_seen(frontier: Frontier, clock: GivenClock) -> None:
    frontier.ready_queue.enqueue([QueueItem(1, HOST, 0), QueueItem(2, HOST, 0)])
    dequeue(frontier, "b1", "token", 0)
    frontier.ready_queue.move_cursor(Level(5), 2)
    frontier.leases.claim("b1", "token", clock.time, "here:42")
    frontier.results.acquire_lock("tick")
    frontier.results.note_tick(clock.time, "took in 0 reports")
    seen = take_snapshot(frontier, 10)
    [(lease, look_at)] = seen.leases
    assert (lease.holder, look_at, seen.handed_out) == ("here:42", clock.time + LEASE_TTL_S, 2)
    assert seen.lock_left is not None
    assert seen.lock_left > 0
    assert seen.last_tick is not None
    assert seen.last_tick.summary == "took in 0 reports"
    assert seen.has_cursor


def test_looking_changes_nothing(frontier: Frontier, redis: Redis, clock: GivenClock) -> None:
    frontier.ready_queue.enqueue([QueueItem(1, HOST, 0)])
    dequeue(frontier, "b1", "token", 0)
    redis.zadd(frontier.keys.leases, {"gone": clock.time})  # its hash was evicted

    def contents() -> dict[bytes, bytes | None]:
        return {key: redis.dump(key) for key in redis.scan_iter()}

    before = contents()
    take_snapshot(frontier, 10)
    assert contents() == before
