"""Pages in and out of a crawl's queue: counted at a few moments, and told as pages a minute."""

import random

import pytest

from crawler.core.protocol.flow import (
    LATER_INTERVAL_S,
    MIN_INTERVAL_S,
    WINDOWS_S,
    Flow,
    Moment,
    per_minute,
    with_change,
)

MINUTE, FIVE_MINUTES = WINDOWS_S


def after(*changes: tuple[float, Flow]) -> list[Moment]:
    moments: list[Moment] = []
    for at, change in changes:
        moments = with_change(moments, 1000.0, at, change)
    return moments


def test_the_first_moment_is_the_beginning_of_the_crawl() -> None:
    moments = after((1004, Flow(pages_in=8, pages_out=2)))
    assert moments == [(1000, 0, 0, 0, 0), (1004, 8, 2, 0, 0)]


def test_all_that_comes_and_goes_is_added_up() -> None:
    moments = after((1004, Flow(8, 2, 1, 0)), (1005, Flow(1, 3, 0, 2)), (1090, Flow(1)))
    assert tuple(moments[-1][1:]) == (10, 5, 1, 2)


def test_a_steady_crawl_has_its_rate_over_both_windows() -> None:
    moments = after(*((1000.0 + second, Flow(2, 1)) for second in range(1, 901)))
    for window in WINDOWS_S:
        rates = per_minute(moments, 1900.0, window)
        assert rates == Flow(pytest.approx(120, rel=0.01), pytest.approx(60, rel=0.01), 0, 0)


def test_a_burst_shows_in_the_last_minute_and_then_only_in_the_last_five() -> None:
    moments = after((1010, Flow(60)), *((1010.0 + 5 * step, Flow(pages_out=1)) for step in range(1, 30)))
    minute, five = (per_minute(moments, 1160.0, window) for window in WINDOWS_S)
    assert minute is not None
    assert five is not None
    assert (minute.pages_in, minute.pages_out) == (0, pytest.approx(12, rel=0.1))
    assert five.pages_in == pytest.approx(60 * 60 / 160)


def test_after_a_long_rest_only_what_is_new_counts_and_by_the_window_alone() -> None:
    moments = after((1010, Flow(500, 500)), (5000, Flow(7)))
    rates = per_minute(moments, 5001.0, MINUTE)
    assert rates == Flow(pytest.approx(7), 0, 0, 0)
    assert per_minute(moments, 5000 + MINUTE + 1, MINUTE) == Flow()


def test_a_crawl_that_just_began_has_no_rate() -> None:
    assert per_minute((), 1001.0, MINUTE) is None
    assert per_minute(after((1001, Flow(5))), 1002.0, MINUTE) is None


def test_few_moments_are_kept_however_long_a_crawl_runs() -> None:
    random.seed(7)
    now, moments = 1000.0, list[Moment]()
    for _ in range(5000):
        now += random.random() * 4
        moments = with_change(moments, 1000.0, now, Flow(1))
        assert len(moments) <= 3 + MINUTE / MIN_INTERVAL_S + 2 * (FIVE_MINUTES - MINUTE) / LATER_INTERVAL_S
    assert moments[0][0] <= now - FIVE_MINUTES
    assert moments[1][0] > now - FIVE_MINUTES


def test_a_clock_that_goes_back_makes_no_moment_older_than_the_last() -> None:
    moments = after((1100, Flow(5)), (1050, Flow(5)))
    assert [moment[0] for moment in moments] == sorted(moment[0] for moment in moments)
    assert moments[-1][1] == 10
