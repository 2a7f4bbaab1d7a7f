"""What crawls could request soon is read by host, with commands that do not grow with the crawls."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis import Redis
from redis.client import Pipeline

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import Pace
from crawler.core.politeness.scaling import Steady
from crawler.frontier import workload
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import SCALE
from crawler.frontier.ready_queue import Level, QueueItem
from crawler.frontier.workload import (
    COMMANDS_PER_CRAWL,
    COMMANDS_PER_LANE,
    MAX_LANES,
    MAX_LANES_PER_CRAWL,
    CrawlLoad,
    LaneLoad,
    ShownFigure,
    read_workload,
)
from tests.frontier.conftest import GivenClock, dequeue

HOST, OTHER = "example.com", "other.example"
HORIZON_S = 60.0


def put(frontier: Frontier, *ids: int, host: str = HOST, in_seconds: float = 0.0) -> None:
    frontier.ready_queue.enqueue(QueueItem(page, host, frontier.now() + in_seconds) for page in ids)


def load_of(frontier: Frontier) -> CrawlLoad:
    now = frontier.now()
    (load,) = read_workload(frontier.redis, [frontier.keys.crawl], now, now + HORIZON_S)
    return load


def lined_up(frontier: Frontier) -> None:
    """As after a tick: it is known how far the table was queued."""
    frontier.ready_queue.move_cursor(Level(5), 1)


@contextmanager
def counted_commands(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The commands of each pipeline that is executed."""
    sent, execute = list[int](), Pipeline.execute

    def noted(pipe: Pipeline, raise_on_error: bool = True) -> list[object]:
        sent.append(len(pipe))
        return execute(pipe, raise_on_error)

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "execute", noted)
        yield sent


def test_no_crawls_have_no_load(redis: Redis) -> None:
    assert read_workload(redis, [], 0.0, HORIZON_S) == []


def test_pages_due_by_the_horizon_are_counted_by_host(frontier: Frontier) -> None:
    put(frontier, 1, 2, 3)
    put(frontier, 4, in_seconds=HORIZON_S - 1)
    put(frontier, 5, in_seconds=HORIZON_S + 1)
    put(frontier, 6, host=OTHER)
    assert {lane.lane: lane.pages for lane in load_of(frontier).lanes} == {HOST: 4, OTHER: 1}


def test_a_host_without_such_pages_is_left_out(frontier: Frontier) -> None:
    put(frontier, 1, in_seconds=HORIZON_S + 1)
    assert load_of(frontier).lanes == []
    assert load_of(frontier).other_lanes == 0


def test_slices_that_are_handed_out_count_with_their_pages(frontier: Frontier) -> None:
    put(frontier, *range(1, 25))
    for number in (0, 1):  # as many as its pace allows: then its queue gives no more
        assert dequeue(frontier, "batch", "token", number)
    assert load_of(frontier).lanes == [LaneLoad(HOST, 4, slices=2, pages_out=20, is_unresponsive=False)]


def test_a_host_that_rests_has_only_what_is_handed_out(frontier: Frontier) -> None:
    put(frontier, 1, 2)
    frontier.redis.hset(frontier.keys.rest, HOST, frontier.now() + HORIZON_S + 1)
    assert load_of(frontier).lanes == []


def test_a_host_that_does_not_respond_is_marked(frontier: Frontier) -> None:
    put(frontier, 1)
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.TIMEOUT, frontier.now())
    assert [lane.is_unresponsive for lane in load_of(frontier).lanes] == [True]


def test_a_lane_of_suspects_is_told_from_its_host(frontier: Frontier) -> None:
    put(frontier, 1)
    put(frontier, 2, host=f"{HOST}|16")
    assert sorted((lane.host, lane.is_of_suspects) for lane in load_of(frontier).lanes) == [(HOST, False), (HOST, True)]


def test_a_manager_has_something_to_do_before_the_first_tick_and_at_the_end(frontier: Frontier) -> None:
    assert load_of(frontier).needs_tick  # nothing is lined up
    lined_up(frontier)
    assert load_of(frontier).needs_tick  # nothing is left: it may be finished
    put(frontier, 1, in_seconds=3600)
    assert not load_of(frontier).needs_tick


@pytest.mark.parametrize("what", ["results", "mark", "lock", "lease"])
def test_a_manager_has_something_to_do_with(frontier: Frontier, what: str) -> None:
    lined_up(frontier)
    put(frontier, 1, in_seconds=3600)
    keys = frontier.keys
    match what:
        case "results":
            frontier.redis.rpush(keys.results, "report")
        case "mark":
            frontier.redis.set(keys.mark, "tick 1")
        case "lock":
            frontier.redis.set(keys.lock, "token")
        case "lease":
            frontier.redis.zadd(keys.leases, {"batch": frontier.now() - 1})
    assert load_of(frontier).needs_tick


def test_the_largest_hosts_are_read_and_the_others_counted(frontier: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = MAX_LANES_PER_CRAWL + 50
    names = [f"{place}.example" for place in range(hosts)]
    frontier.ready_queue.set_paces(dict.fromkeys([*names, "late.example"], Pace(1, 1)))
    for place, name in enumerate(names):  # fifty have one page, the others two
        put(frontier, *range(1000 * place, 1000 * place + (1 if place < 50 else 2)), host=name)
    put(frontier, 1, host="late.example", in_seconds=3600)
    with counted_commands(monkeypatch) as sent:
        load = load_of(frontier)
    assert (len(load.lanes), load.other_lanes) == (MAX_LANES_PER_CRAWL, 50)
    assert {lane.pages for lane in load.lanes} == {2}
    assert sent == [COMMANDS_PER_CRAWL, COMMANDS_PER_LANE * MAX_LANES_PER_CRAWL]


def test_hosts_being_fetched_are_counted_beyond_those_that_are_read(frontier: Frontier) -> None:
    fetched = {f"{place}.example": 1 for place in range(MAX_LANES_PER_CRAWL + 7)}
    frontier.redis.hset(frontier.keys.active, mapping=fetched)  # type: ignore[arg-type]  # redis-py's dict is invariant
    load = load_of(frontier)
    assert (len(load.lanes), load.other_lanes) == (MAX_LANES_PER_CRAWL, 7)


def test_a_host_that_is_being_fetched_and_has_more_is_counted_once(frontier: Frontier) -> None:
    hosts = [f"{place}.example" for place in range(3 * MAX_LANES_PER_CRAWL)]
    frontier.ready_queue.set_paces(dict.fromkeys(hosts, Pace(2, 1)))
    for place, host in enumerate(hosts):
        put(frontier, 10 * place, 10 * place + 1, host=host)
    for number in range(2 * MAX_LANES_PER_CRAWL):
        assert dequeue(frontier, "batch", "token", number)
    load = load_of(frontier)
    assert len(load.lanes) + load.other_lanes == len(hosts)


def test_many_crawls_share_the_number_of_hosts_that_are_read(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    crawls = [Frontier(redis, f"crawl-{number}", clock=GivenClock()) for number in range(16)]
    for crawl in crawls:
        for place in range(40):
            put(crawl, place + 1, host=f"{place}.example")
    now = crawls[0].now()
    with counted_commands(monkeypatch) as sent:
        loads = read_workload(redis, [crawl.keys.crawl for crawl in crawls], now, now + HORIZON_S)
    assert [len(load.lanes) + load.other_lanes for load in loads] == [40] * 16
    assert sent == [COMMANDS_PER_CRAWL * 16, COMMANDS_PER_LANE * MAX_LANES]


# The figure that was shown.


def test_the_figure_is_found_again_by_any_process(redis: Redis) -> None:
    assert workload.shown_figure(redis) is None
    figure = ShownFigure(Steady(5, 10.5, 3), 12.0)
    workload.store_figure(redis, figure)
    assert workload.shown_figure(redis) == figure
    assert 0 < redis.ttl(SCALE) <= workload.FIGURE_TTL_S


@pytest.mark.parametrize(("found", "wanted"), [(None, 3), (1, 3), (5, 5)])
def test_the_figure_is_restored_unless_more_is_wanted_by_now(redis: Redis, found: int | None, wanted: int) -> None:
    if found is not None:
        workload.store_figure(redis, ShownFigure(Steady(found), 13.0))
    workload.restore_figure(redis, ShownFigure(Steady(3), 12.0))
    shown = workload.shown_figure(redis)
    assert shown is not None
    assert shown.steady.wanted == wanted


@pytest.mark.parametrize("stored", ["", "5", "[1, 2]", "null", '{"wanted": 5}'])
def test_a_figure_of_another_version_is_none(redis: Redis, stored: str) -> None:
    redis.set(SCALE, stored)
    assert workload.shown_figure(redis) is None
