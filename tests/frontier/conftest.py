"""Frontier tests run twice: on a real Redis and on its in-memory twin."""

from collections.abc import Iterator

import fakeredis
import pytest
from redis import Redis

from crawler.core.politeness.host_rules import Pace
from crawler.core.protocol import lanes
from crawler.core.protocol.lanes import SlotLane
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import DequeuedSlice, SliceOrder


class GivenClock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock() -> GivenClock:
    return GivenClock()


@pytest.fixture(params=["real", "twin"])
def redis(request: pytest.FixtureRequest) -> Iterator[Redis]:
    if request.param == "real":
        yield request.getfixturevalue("real_redis")
    else:
        with fakeredis.FakeRedis() as twin:
            yield twin


@pytest.fixture
def frontier(redis: Redis, clock: GivenClock) -> Frontier:
    """A frontier that hands out two slices of ten pages of a host at a time."""
    return Frontier(redis, "a-crawl", default_pace=Pace(slices=2, pages=10), clock=clock)


@pytest.fixture
def slot_lane(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlotLane]:
    """The only slot lane that there is."""
    lane = SlotLane(
        *("slow", "walk", "snail"),
        lambda options: True,
        suffix="s",
        reason=lambda options, kind, noted: noted,
        slots=lambda: 6,
        page_s=2.0,
    )
    monkeypatch.setattr(lanes, "lanes", lambda: (lanes.FETCH, lane))
    for found in (lanes.slot_lanes, lanes.suffixes):
        found.cache_clear()
    yield lane
    for found in (lanes.slot_lanes, lanes.suffixes):
        found.cache_clear()


def dequeue(
    frontier: Frontier, batch: str, token: str, number: int, alone: tuple[str, str] | None = None
) -> DequeuedSlice | None:
    """The next slice, as this one of a batch."""
    found = frontier.ready_queue.dequeue([SliceOrder(batch, token, number, alone)], frontier.now())
    return found[0] if found else None
