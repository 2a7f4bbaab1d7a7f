"""What is handed out of a host fits the delay it asks for."""

import pytest

from crawler.core.politeness import host_rules
from crawler.core.politeness.throttle import Throttle


def test_the_longer_delay_counts() -> None:
    assert host_rules.host_delay(1.0, None) == 1.0
    assert host_rules.host_delay(1.0, 5.0) == 5.0
    assert host_rules.host_delay(6.0, 5.0) == 6.0


def test_a_host_cannot_ask_for_eternity() -> None:
    assert host_rules.host_delay(0.0, 86400.0) == host_rules.MAX_CRAWL_DELAY_S


@pytest.mark.parametrize(("delay", "pages"), [(0, 64), (0.1, 64), (0.5, 30), (1, 15), (2, 7), (3, 1), (60, 1)])
def test_a_slice_never_lasts_long(delay: float, pages: int) -> None:
    assert host_rules.slice_pages(delay) == pages


@pytest.mark.parametrize(
    ("seconds", "pages"), [(None, 64), (0.0, 256), (0.001, 256), (0.05, 100), (0.2, 25), (1.0, 5), (4.0, 1), (30.0, 1)]
)
def test_of_a_slow_host_a_slice_has_fewer_pages(seconds: float | None, pages: int) -> None:
    assert host_rules.slice_pages(0.0, seconds) == pages


def test_a_delay_counts_where_answers_take_less() -> None:
    assert host_rules.slice_pages(1.0, 0.2) == host_rules.slice_pages(1.0) == 15
    assert host_rules.slice_pages(1.0, 5.0) == 3


@pytest.mark.parametrize(
    ("delay", "seconds", "pages"),
    [(0, None, 24), (0, 0.01, 24), (0, 0.049, 24), (0, 0.05, 2), (0, 0.1, 1), (0, 3.0, 1), (1.0, 0.1, 24)],
)
def test_few_pages_of_a_slow_host_are_asked_for_side_by_side(delay: float, seconds: float | None, pages: int) -> None:
    assert host_rules.short_slice_pages(delay, seconds) == pages


@pytest.mark.parametrize(("delay", "slices"), [(0, 8), (0.1, 4), (0.5, 1), (10, 1)])
def test_a_long_delay_leaves_nothing_for_a_second_connection(delay: float, slices: int) -> None:
    assert host_rules.slices_at_once(delay, 4) == slices


@pytest.mark.parametrize(("delay", "per_minute", "chosen"), [(1, None, 1), (0, 30, 2), (5, 30, 5), (0.1, 60, 1)])
def test_requests_a_minute_are_a_delay(delay: float, per_minute: float | None, chosen: float) -> None:
    assert host_rules.chosen_delay(delay, per_minute) == chosen


def test_a_host_that_has_not_answered_yet_gives_one_slice_whatever_its_delay() -> None:
    assert host_rules.pace_of(2.0, 4, has_answered=False) == host_rules.ONE_BY_ONE
    assert host_rules.pace_of(0.0, 4) == host_rules.Pace(slices=8, pages=64, short=24)
    assert host_rules.pace_of(0.0, 4, 0.1) == host_rules.Pace(slices=8, pages=50, short=1)


@pytest.mark.parametrize(
    ("spent_s", "done", "left", "misjudged"),
    [(4.0, 1, 23, True), (4.0, 1, 2, False), (1.0, 2, 22, True), (0.9, 1, 23, False), (1.2, 10, 40, False)],
)
def test_a_slice_that_would_last_for_long_is_misjudged(spent_s: float, done: int, left: int, misjudged: bool) -> None:
    assert host_rules.is_misjudged(spent_s, done, left) is misjudged


@pytest.mark.parametrize(
    ("times", "seconds", "has_answered", "hopeless"),
    [(2, 60, False, False), (3, 4, False, False), (3, 5, False, True), (9, 90, True, False), (10, 60, True, True)],
)
def test_a_host_that_never_answered_is_given_up_sooner(
    times: int, seconds: float, has_answered: bool, hopeless: bool
) -> None:
    assert host_rules.is_hopeless(times, seconds, has_answered=has_answered) is hopeless


@pytest.mark.parametrize(
    ("limit", "is_starting", "seconds", "interval"),
    [
        (16, True, 0.1, host_rules.REPORT_S),  # the crawl has all it wants
        (8, True, 0.1, 0.0),
        (8, False, 0.1, host_rules.EARLY_REPORT_S),
        (8, True, 0.02, host_rules.EARLY_REPORT_S),
    ],
)
def test_each_response_of_a_slow_host_is_reported_while_its_limit_doubles(
    limit: int, is_starting: bool, seconds: float, interval: float
) -> None:
    throttle = Throttle(limit=limit, is_starting=is_starting, seconds=seconds, news_at=1.0)
    assert host_rules.report_interval(throttle, 16) == interval
