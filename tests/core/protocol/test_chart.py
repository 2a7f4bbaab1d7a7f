"""Where a line goes, and how long a bar is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.protocol.progress import HEIGHT, WIDTH, line, round_axis, share


def test_a_line_goes_from_edge_to_edge_below_a_round_number() -> None:
    drawn = line([(100.0, 0.0), (101.0, 3.0), (104.0, 1.5)])
    assert drawn is not None
    assert drawn.points == f"0.0,{HEIGHT:.1f} {WIDTH / 4:.1f},0.0 {WIDTH:.1f},{HEIGHT / 2:.1f}"
    assert drawn.area == f"0,{HEIGHT} {drawn.points} {WIDTH},{HEIGHT}"
    assert drawn.top == 3.0


@pytest.mark.parametrize("values", [[], [(1.0, 2.0)], [(1.0, 2.0), (1.0, 3.0)]])
def test_less_than_two_moments_are_no_line(values: list[tuple[float, float]]) -> None:
    assert line(values) is None


@pytest.mark.parametrize(("most", "top"), [(0, 1), (0.2, 1), (1, 1), (1.2, 1.5), (10.6, 15), (99, 100), (5100, 7500)])
def test_the_upper_edge_is_a_round_number(most: float, top: float) -> None:
    assert round_axis(most) == top


@given(st.floats(min_value=0, max_value=1e9))
def test_nothing_is_above_the_upper_edge(most: float) -> None:
    assert most <= round_axis(most) <= max(1.0, 2 * most)


def test_a_bar_is_as_long_as_its_share_and_one_page_can_be_seen() -> None:
    assert [share(part, 1000) for part in (1000, 500, 1, 0)] == [100.0, 50.0, 0.5, 0.0]
    assert share(0, 0) == 0.0
