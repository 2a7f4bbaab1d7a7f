"""A glance shows what a crawl waits for, and changes nothing; what a host waits for can be ended."""

import pytest
from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import HostStop
from crawler.core.politeness.throttle import Throttle
from crawler.core.protocol.completion import QueueSide
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostState, HostStates
from crawler.frontier.inspect import (
    PolicyInUse,
    crawl_of,
    end_waits,
    holder_name,
    host_snapshots,
    pages_of,
    take_snapshot,
)
from crawler.frontier.leases import LEASE_TTL_S
from crawler.frontier.ready_queue import Level, QueueItem
from crawler.frontier.robots import RobotsCache, RobotsEntry
from tests.frontier.conftest import GivenClock, dequeue
from tests.stops import stop_host

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


ORIGIN = "http://example.com"


def due_now(frontier: Frontier) -> list[int]:
    picked = dequeue(frontier, "b", "t", 0)
    return picked.pages if picked else []


def test_a_holder_tells_whose_it_is() -> None:
    assert crawl_of(holder_name("a-crawl", "fetch-1", 3)) == "a-crawl"
    assert crawl_of("fetch-1:3") == ""


def test_of_an_unknown_host_nothing_is_known(redis: Redis) -> None:
    assert not host_snapshots(redis, [HOST], 0.0)[HOST].is_known


def test_stop_throttle_and_probe_end_and_the_crawl_delay_stays(redis: Redis, clock: GivenClock) -> None:
    book, limiter = HostStates(redis), HostLimiter(redis, 10)
    book.note_crawl_delay(HOST, 5)
    book.note_response(HOST)
    book.throttles.note_failure(HOST, seconds=0.0, connections=4, status=503, now=clock.time, crawl="a-crawl")
    stop_host(redis, HOST, 3600, clock.time)
    redis.hset(keys.host(HOST), mapping={"probe": "x", "probe_until": clock.time + 9})
    seen = host_snapshots(redis, [HOST], clock.time)[HOST]
    assert (seen.state.stop.status, seen.state.probe_until, seen.state.stop.stops) == (429, clock.time + 9, 1)
    assert end_waits(redis, HOST)
    assert HostStates(redis).read([HOST], clock.time)[HOST] == HostState(
        crawl_delay=5, throttle=Throttle(), has_answered=True
    )
    assert host_snapshots(redis, [HOST], clock.time)[HOST].state.stop == HostStop()
    assert limiter.request_grant(HOST, "a", HostPolicy("a-crawl"), clock.time).granted
    assert not end_waits(redis, HOST)


@pytest.mark.parametrize("lane", [HOST, f"{HOST}|16", f"{HOST}|1"])
def test_pages_that_were_to_wait_are_handed_out_at_once(frontier: Frontier, clock: GivenClock, lane: str) -> None:
    frontier.ready_queue.enqueue([QueueItem(7, lane, clock.time + 300), QueueItem(8, "other.test", clock.time + 300)])
    frontier.redis.hset(frontier.keys.rest, lane, str(clock.time + 3600))
    frontier.ready_queue.enqueue([QueueItem(9, lane, 0)])
    assert dequeue(frontier, "b", "t", 0, alone=("c", "t")) is None
    assert frontier.ready_queue.make_due(HOST, clock.time)
    picked = dequeue(frontier, "b", "t", 0, alone=("c", "t"))
    assert picked is not None
    assert set(picked.pages) <= {7, 9}
    assert frontier.ready_queue.size() == 3 - len(picked.pages)  # the other host's page waits on


def test_pages_that_need_not_wait_are_left_alone(frontier: Frontier, clock: GivenClock) -> None:
    assert not frontier.ready_queue.make_due(HOST, clock.time)
    frontier.ready_queue.enqueue([QueueItem(7, HOST, 0)])
    assert not frontier.ready_queue.make_due(HOST, clock.time)
    assert due_now(frontier) == [7]
    assert not frontier.ready_queue.make_due(HOST, clock.time)


def test_crawls_with_pages_of_a_host_are_found_waiting_or_handed_out(redis: Redis, clock: GivenClock) -> None:
    crawls = {name: Frontier(redis, name, clock=clock) for name in ("waits", "out", "suspects", "elsewhere")}
    crawls["waits"].ready_queue.enqueue([QueueItem(1, HOST, clock.time + 9), QueueItem(2, HOST, 0)])
    crawls["out"].ready_queue.enqueue([QueueItem(3, HOST, 0)])
    assert due_now(crawls["out"]) == [3]
    crawls["suspects"].ready_queue.enqueue([QueueItem(4, f"{HOST}|16", 0)])
    crawls["elsewhere"].ready_queue.enqueue([QueueItem(5, "other.test", 0)])
    assert pages_of(redis, HOST, list(crawls)) == {"waits": 2, "out": 0, "suspects": 1}


def test_a_robots_txt_that_could_not_be_had_is_forgotten_and_one_that_was_read_is_not(redis: Redis) -> None:
    memory = RobotsCache(redis)
    lost = RobotsEntry(status=503, outcome=Outcome.SERVER_ERROR, body=b"")
    memory.put(ORIGIN, lost, reachable=True)  # for long, so that it is not the time that ends it
    memory.forget_unreachable(ORIGIN)
    assert memory.get(ORIGIN) is None
    memory.put(ORIGIN, RobotsEntry(status=200, outcome=Outcome.SUCCESS, body=b"rules"), reachable=True)
    memory.forget_unreachable(ORIGIN)
    assert memory.get(ORIGIN) is not None


def test_a_robots_txt_that_is_being_asked_for_is_seen(redis: Redis) -> None:
    memory = RobotsCache(redis)
    assert not memory.is_being_fetched([ORIGIN, "https://example.com"])
    memory.acquire_lock(ORIGIN, "a worker")
    assert memory.is_being_fetched(["https://example.com", ORIGIN])
    assert not memory.is_being_fetched([])
