"""The simulated day: every page is done, workers come and go with the crawls, and the drawing shows both."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tools.bench import scale
from tools.bench.arguments import parse
from tools.bench.scale import HOUR_S, STEP_S, DayCrawl, Moment, a_day, panels, simulated
from tools.bench.scale_measured import crawls_of, measured

POLITE = DayCrawl("polite", HOUR_S, pages=600, hosts=1, connections=16, delay=1.0, response_s=0.2)
MANY = DayCrawl("many", 5 * HOUR_S, pages=900_000, hosts=500, connections=4, delay=0.0, response_s=1.0)


def running(moments: list[Moment]) -> list[int]:
    return [moment.running for moment in moments]


def test_a_polite_crawl_takes_one_worker_for_as_long_as_its_delay_says() -> None:
    moments = simulated([POLITE], most=8, idle_s=120)
    busy = [moment.at for moment in moments if moment.running]
    assert set(running(moments)) == {0, 1}
    assert busy[0] == POLITE.begins
    assert POLITE.pages * POLITE.delay <= busy[-1] - busy[0] <= POLITE.pages * POLITE.delay + 120 + 5 * STEP_S
    assert moments[-1].open == 0


def test_many_hosts_take_as_many_as_there_may_be_and_fewer_take_longer() -> None:
    eight, two = (simulated([MANY], most, idle_s=120) for most in (8, 2))
    assert (max(running(eight)), max(running(two))) == (8, 2)  # 2,000 requests under way
    assert sum(moment.open > 0 for moment in two) > 1.5 * sum(moment.open > 0 for moment in eight)


def test_a_shorter_idle_time_keeps_workers_for_less_long() -> None:
    assert sum(running(simulated([POLITE], 8, idle_s=10))) < sum(running(simulated([POLITE], 8, idle_s=600)))


@pytest.mark.parametrize("seed", range(1, 4))
def test_each_day_goes_from_none_to_eight_and_back(seed: int) -> None:
    crawls = a_day(seed)
    moments = simulated(crawls, most=8, idle_s=120)
    assert (running(moments)[0], max(running(moments)), running(moments)[-1]) == (0, 8, 0)
    assert moments[-1].open == 0
    changes = sum(before != after for before, after in pairwise(running(moments)))
    assert changes < 4 * len(crawls)  # it does not flap
    assert a_day(seed) == crawls != a_day(seed + 9)


def test_the_drawing_has_the_workers_as_steps_and_the_most_of_the_open_pages() -> None:
    moments = [Moment(at, 1, 1, int(at >= 3), 5.0) for at in range(6)]
    moments[4] = replace(moments[4], open=9.0)
    workers, pages = panels(moments, most=8)
    assert workers.points == ((0, 0), (3, 0), (3, 1), (5, 1))
    assert max(value for _, value in pages.points) == 9.0


def test_the_crawls_of_a_measured_day_begin_early_enough_to_end_with_it() -> None:
    crawls = crawls_of(240.0, seed=4)
    assert crawls == sorted(crawls, key=lambda crawl: crawl.begins)
    assert all(0 < crawl.begins < 0.7 * 240 for crawl in crawls)
    assert crawls != crawls_of(240.0, seed=5)


@pytest.mark.long
def test_a_measured_day_goes_from_none_to_as_many_as_there_may_be_and_back() -> None:
    _, moments = measured(40.0, most=2, seed=4)
    assert (running(moments)[0], max(running(moments)), running(moments)[-1]) == (0, 2, 0)


def test_the_command_writes_the_drawing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "day.svg"
    assert scale.main(parse(["scale", "--chart", str(file)])) == 0
    assert "Open pages" in file.read_text()
    assert "24:00" in file.read_text()
    assert "hours of a worker" in capsys.readouterr().out
