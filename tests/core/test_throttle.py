"""The throttle follows a host's slowness and its troubles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core import throttle
from crawler.core.outcomes import Outcome
from crawler.core.throttle import Throttle, after_answers, after_trouble
from crawler.core.work import PageResult


def test_a_host_that_answers_quickly_is_not_slowed_down() -> None:
    assert after_answers(Throttle(), mean_seconds=0.3, answers=10) == Throttle()


def test_a_slow_host_is_left_alone_for_as_long_as_it_is_slow() -> None:
    assert after_answers(Throttle(), mean_seconds=3.0, answers=1).delay == 2.0


def test_trouble_in_a_row_doubles_the_delay() -> None:
    known = Throttle()
    delays = []
    for _ in range(4):
        known = after_trouble(known)
        delays.append(known.delay)
    assert delays == [0.25, 0.5, 1.0, 2.0]


def test_each_good_answer_takes_half_of_it_away_until_nothing_is_left() -> None:
    troubled = Throttle(delay=8.0, troubles=4)
    assert after_answers(troubled, 0.1, answers=1) == Throttle(delay=4.0)
    assert after_answers(troubled, 0.1, answers=3) == Throttle(delay=1.0)
    assert after_answers(troubled, 0.1, answers=20) == Throttle()


@given(st.lists(st.one_of(st.none(), st.tuples(st.floats(0, 1000), st.integers(1, 64))), max_size=40))
def test_it_stays_within_its_limits_whatever_happens(events: list[tuple[float, int] | None]) -> None:
    known = Throttle()
    for event in events:
        known = after_trouble(known) if event is None else after_answers(known, *event)
        assert 0.0 <= known.delay <= throttle.LONGEST


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
    assert throttle.is_trouble(outcome, http_status) is trouble


def test_only_a_busy_host_that_names_a_time_is_left_alone_altogether() -> None:
    busy = PageResult(id=1, attempt=1, outcome=Outcome.SERVER_ERROR, http_status=503, retry_after=7.0)
    elsewhere = PageResult(id=1, attempt=1, outcome=Outcome.REDIRECT, http_status=301, retry_after=7.0)
    assert throttle.stop_of(busy) == 7.0
    assert throttle.stop_of(elsewhere) is None
