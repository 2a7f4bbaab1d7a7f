"""What a row of looks at a crawl says about its pace."""

from __future__ import annotations

from tools.bench.watching import Sample, panels, rate_between, rates


def sample(at: float, closed: int) -> Sample:
    return Sample(at, 1000, closed, closed, 3, 2**20, 2**21, 2**22)


SAMPLES = [sample(0, 0), sample(1, 100), sample(3, 400), sample(4, 1000)]


def test_the_rate_is_of_the_time_between_two_looks() -> None:
    assert rates(SAMPLES) == [(1, 100), (3, 150), (4, 600)]


def test_the_rate_of_a_part_of_the_crawl() -> None:
    assert rate_between(SAMPLES, 0.1, 0.5) == 150
    assert rate_between(SAMPLES, 0.5, 0.6) is None
    assert rate_between([], 0, 1) is None


def test_every_panel_is_over_the_time_of_the_crawl() -> None:
    drawn = {panel.title: panel.points for panel in panels(SAMPLES)}

    assert drawn["Open pages"][-1] == (4, 0)
    assert drawn["Memory of Redis, MiB"][0] == (0, 1)
