"""The throttle follows a host's slowness and its troubles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness import host_rules
from crawler.core.politeness.host_rules import (
    HALF_LIFE_S,
    Throttle,
    after_responses,
    after_silence,
    after_trouble,
    usual_seconds,
)


def test_a_host_that_answers_quickly_is_not_slowed_down() -> None:
    assert after_responses(Throttle(), mean_seconds=0.3, responses=10) == Throttle()


def test_a_slow_host_is_left_alone_for_as_long_as_it_is_slow() -> None:
    assert after_responses(Throttle(), mean_seconds=3.0, responses=1).delay == 2.0


@pytest.mark.parametrize("seconds", [0.02, 0.5, 2.0, 5.0])
def test_a_host_that_is_always_as_slow_gets_no_delay(seconds: float) -> None:
    usual = usual_seconds(None, seconds)
    for latest in (seconds * 1.3, seconds * 0.9, seconds):
        usual = usual_seconds(usual, latest)
        assert after_responses(Throttle(), latest, responses=1, usual=usual) == Throttle()


def test_a_host_that_slows_down_gets_a_delay() -> None:
    assert after_responses(Throttle(), 5.0, responses=1, usual=2.0).delay == 1.0
    assert after_responses(Throttle(), 1.5, responses=1, usual=0.1).delay == 0.5


def test_trouble_in_a_row_doubles_the_delay() -> None:
    known = Throttle()
    delays = []
    for _ in range(4):
        known = after_trouble(known)
        delays.append(known.delay)
    assert delays == [0.25, 0.5, 1.0, 2.0]


def test_each_good_response_takes_half_of_it_away_until_nothing_is_left() -> None:
    troubled = Throttle(delay=0.8, troubles=2)
    assert after_responses(troubled, 0.1, responses=1) == Throttle(delay=0.4)
    assert after_responses(troubled, 0.1, responses=3) == Throttle(delay=0.1)
    assert after_responses(troubled, 0.1, responses=20) == Throttle()


def test_a_host_that_is_well_again_is_at_full_speed_within_ten_responses_and_five_seconds() -> None:
    known, waited, responses = Throttle(delay=60.0, troubles=12), 0.0, 0
    while True:
        known, responses = after_responses(known, 0.1, responses=1), responses + 1
        waited += known.delay
        if known == Throttle():
            break
    assert responses <= 10
    assert waited <= 5.0


def test_a_host_that_stays_slow_keeps_the_delay_its_slowness_calls_for() -> None:
    assert after_responses(Throttle(delay=60.0, troubles=9), mean_seconds=4.0, responses=30).delay == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("half_lives", "left"), [(0, Throttle(40.0, 8)), (1, Throttle(20.0, 7)), (3, Throttle(5.0, 5))]
)
def test_with_no_news_it_halves_with_time(half_lives: int, left: Throttle) -> None:
    assert after_silence(Throttle(40.0, 8), half_lives * HALF_LIFE_S) == left


def test_it_is_forgotten_in_the_end_and_never_grows_by_a_clock_that_goes_back() -> None:
    assert after_silence(Throttle(60.0, 12), 12 * HALF_LIFE_S) == Throttle()
    assert after_silence(Throttle(4.0, 5), -3600.0) == Throttle(4.0, 5)


@given(st.lists(st.one_of(st.none(), st.tuples(st.floats(0, 1000), st.integers(1, 64))), max_size=40))
def test_it_stays_within_its_limits_whatever_happens(events: list[tuple[float, int] | None]) -> None:
    known = Throttle()
    for event in events:
        known = after_trouble(known) if event is None else after_responses(known, *event)
        assert 0.0 <= known.delay <= host_rules.MAX_THROTTLE_S


@pytest.mark.parametrize(
    ("outcome", "http_status", "trouble"),
    [
        (Outcome.TIMEOUT, None, True),
        (Outcome.CONNECT, None, True),
        (Outcome.CLIENT_ERROR, 429, True),
        (Outcome.SERVER_ERROR, 503, True),
        (Outcome.SERVER_ERROR, 500, False),
        (Outcome.CLIENT_ERROR, 404, False),
        (Outcome.SUCCESS, 200, False),
        (Outcome.TLS, None, False),
    ],
)
def test_what_counts_as_trouble(outcome: Outcome, http_status: int | None, trouble: bool) -> None:
    assert host_rules.is_trouble(outcome, http_status) is trouble
