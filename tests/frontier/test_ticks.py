"""How long ticks take, as it is kept."""

import pytest
from redis import Redis

from crawler.frontier import metrics
from crawler.frontier.frontier import Frontier
from crawler.frontier.metrics import BUCKET_BOUNDS_S


def test_nothing_is_known_before_the_first_tick(redis: Redis) -> None:
    found = metrics.read_tick_times(redis)
    assert (found.count, found.total, found.last) == (0, 0.0, 0.0)


def test_a_tick_falls_in_the_first_bucket_it_fits_in(redis: Redis) -> None:
    for seconds in (0.0, 0.01, 0.011, 10.0, 11.0):
        Frontier(redis, "c").results.note_tick(1.0, "done", seconds)
    found = metrics.read_tick_times(redis)
    assert found.buckets == (2, 1, *[0] * (len(BUCKET_BOUNDS_S) - 3), 1, 1)
    assert (found.count, found.last) == (5, 11.0)
    assert found.total == pytest.approx(21.021)


def test_the_end_of_the_tick_is_remembered_with_it(redis: Redis) -> None:
    frontier = Frontier(redis, "c")
    frontier.results.note_tick(1.5, "took in 3 reports", 0.2)
    last = frontier.results.last_tick()
    assert last is not None
    assert (last.at, last.summary) == (1.5, "took in 3 reports")
