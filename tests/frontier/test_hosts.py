"""What a host waits for, over all crawls, is seen, and can be ended; what the site asked of all crawlers stays."""

import pytest
from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import HostStop
from crawler.core.politeness.throttle import Throttle
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostState, HostStates
from crawler.frontier.inspect import crawl_of, end_waits, holder_name, host_snapshots, pages_of
from crawler.frontier.ready_queue import QueueItem
from crawler.frontier.robots import RobotsCache, RobotsEntry
from tests.frontier.conftest import GivenClock, dequeue
from tests.stops import stop_host

HOST, ORIGIN = "example.com", "http://example.com"


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
