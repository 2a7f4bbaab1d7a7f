"""A rate is measured, an end is only foretold while it is in sight; lines, bars and events tell of both."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.counters import Tallies
from crawler.core.protocol.progress import (
    ASKED,
    DENSE_SAMPLES,
    HEIGHT,
    MAX_SAMPLES,
    MIN_SAMPLE_INTERVAL_S,
    WIDTH,
    Completion,
    ProgressState,
    Sample,
    eta,
    event,
    events_since,
    line,
    pace,
    ran_seconds,
    rate,
    retry,
    round_axis,
    share,
    standing,
    still_for,
    with_sample,
)

NOW = 1000.0


def steady(discovered: int, per_second: int, seconds: int = 8) -> list[Sample]:
    """A crawl that knows all its pages and closes some each second."""
    samples: list[Sample] = []
    for second in range(seconds):
        samples = with_sample(samples, NOW - seconds + second, discovered, per_second * second, per_second * second)
    return samples


def closed(pages: int, *, of: int) -> Tallies:
    """All of them answered."""
    return Tallies(discovered=of, outcomes={"2xx": pages})


def test_samples_keep_their_distance() -> None:
    samples = with_sample([], NOW, 1, 0, 0)
    assert with_sample(samples, NOW + MIN_SAMPLE_INTERVAL_S / 2, 2, 1, 1) == samples
    assert len(with_sample(samples, NOW + MIN_SAMPLE_INTERVAL_S, 2, 1, 1)) == 2


def test_the_samples_reach_over_the_whole_crawl_and_lie_close_together_at_its_end() -> None:
    samples: list[Sample] = []
    for second in range(10 * MAX_SAMPLES):
        samples = with_sample(samples, NOW + second, second, second, second)
    assert len(samples) == MAX_SAMPLES
    assert samples[0][1] == 0
    assert [sample[1] for sample in samples[-DENSE_SAMPLES:]] == list(
        range(10 * MAX_SAMPLES - DENSE_SAMPLES, 10 * MAX_SAMPLES)
    )
    gaps = [new[0] - old[0] for old, new in pairwise(samples)]
    assert max(gaps) <= 40  # spread evenly it would be 15 s


def test_the_pace_is_pages_a_second_from_sample_to_sample() -> None:
    assert pace([(NOW, 100, 0), (NOW + 2, 100, 40), (NOW + 3, 100, 40)]) == [(NOW + 2, 20.0), (NOW + 3, 0.0)]


def test_a_pace_is_never_negative_and_needs_two_samples() -> None:
    assert pace([(NOW, 5, 5)]) == []
    assert pace([(NOW, 5, 5), (NOW, 5, 6), (NOW + 1, 5, 2)]) == [(NOW + 1, 0.0)]


def test_the_rate_is_pages_a_second() -> None:
    assert rate(steady(1000, 20), NOW, 160) == pytest.approx(20)


def test_there_is_no_rate_before_there_is_something_to_measure() -> None:
    assert rate([], NOW, 5) is None
    assert rate(with_sample([], NOW, 5, 0, 0), NOW + 0.1, 5) is None


def test_a_stalled_crawl_has_rate_zero_and_no_end_in_sight() -> None:
    samples = [(NOW - 9, 100, 40), (NOW - 5, 100, 40)]
    assert rate(samples, NOW, 40) == 0
    assert eta(samples, NOW, closed(40, of=100)) is None


def test_the_end_is_foretold_when_nothing_new_turns_up() -> None:
    assert eta(steady(1000, 20), NOW, closed(160, of=1000)) == pytest.approx(42)


def test_no_end_is_foretold_while_many_new_pages_turn_up() -> None:
    samples = [(NOW - 8, 100, 0), (NOW - 4, 300, 80)]
    assert eta(samples, NOW, closed(160, of=500)) is None


def test_no_end_is_foretold_when_all_is_done() -> None:
    assert eta(steady(160, 20), NOW, closed(160, of=160)) is None


def test_under_a_page_limit_the_total_is_what_may_be_asked_for() -> None:
    assert standing(closed(12, of=457), 40) == Completion(12, 40, at_most=True)
    assert standing(closed(12, of=457), None) == Completion(12, 457, at_most=False)
    assert standing(closed(12, of=30), 40) == Completion(12, 30, at_most=False)


def test_a_page_limit_that_was_reached_is_a_hundred_per_cent() -> None:
    reached = standing(Tallies(discovered=457, outcomes={"2xx": 38, "timeout": 2, "limit": 417}), 40)
    assert (reached, reached.percent) == (Completion(40, 40, at_most=True), 100)


def test_pages_that_are_skipped_do_not_use_up_the_page_limit() -> None:
    tallies = Tallies(discovered=100, outcomes={"2xx": 10, "robots": 25, "limit": 5})
    assert standing(tallies, 40) == Completion(10, 40, at_most=True)
    assert standing(tallies, 80) == Completion(10, 70, at_most=False)


def test_what_was_cancelled_is_not_done() -> None:
    assert standing(Tallies(discovered=10, outcomes={"2xx": 4, "cancelled": 6}), None) == Completion(
        4, 10, at_most=False
    )
    assert standing(Tallies(discovered=90, outcomes={"2xx": 4, "cancelled": 86}), 8) == Completion(4, 8, at_most=True)


OUTCOMES = st.dictionaries(st.sampled_from([outcome.value for outcome in Outcome]), st.integers(0, 1000))
LIMITS = st.none() | st.integers(1, 1500)


@given(OUTCOMES, st.integers(0, 1000), LIMITS)
def test_progress_is_never_negative_nor_beyond_its_total(
    outcomes: dict[str, int], still_open: int, limit: int | None
) -> None:
    stands = standing(Tallies(discovered=sum(outcomes.values()) + still_open, outcomes=outcomes), limit)
    assert 0 <= stands.done <= stands.total
    assert 0 <= stands.percent <= 100
    assert not stands.at_most or limit is not None


@given(
    st.lists(st.tuples(st.floats(0.0, 12.0), st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 2000))),
    OUTCOMES,
    st.integers(0, 1000),
    LIMITS,
)
def test_no_estimate_is_negative_and_under_a_page_limit_there_is_one_as_soon_as_there_is_a_rate(
    before: list[tuple[float, int, int, int]], outcomes: dict[str, int], still_open: int, limit: int | None
) -> None:
    samples = sorted((NOW - ago, *numbers) for ago, *numbers in before)
    tallies = Tallies(discovered=sum(outcomes.values()) + still_open, outcomes=outcomes)
    left = eta(samples, NOW, tallies, limit)
    assert left is None or left >= 0
    if limit is not None and still_open and rate(samples, NOW, tallies.asked, ASKED):
        assert left is not None


def test_a_page_limit_is_an_end_in_sight_however_many_pages_turn_up() -> None:
    samples = [(NOW - 4, 300, 4, 4)]
    assert eta(samples, NOW, closed(12, of=457)) is None
    assert eta(samples, NOW, closed(12, of=457), 40) == pytest.approx(14)  # 28 pages at 2 a second


def test_of_a_page_limit_and_the_last_known_page_the_nearer_is_the_end() -> None:
    samples = [(NOW - 4, 30, 12, 12)]
    assert eta(samples, NOW, closed(20, of=30), 1000) == pytest.approx(5)


def test_pages_that_are_skipped_do_not_make_the_limit_seem_nearer() -> None:
    """Each page leads to many that are too deep: they close at once, and none of them counts."""
    tallies = Tallies(discovered=457, outcomes={"2xx": 12, "limit": 400})
    samples = [(NOW - 4, 120, 104, 4)]
    assert rate(samples, NOW, tallies.asked, ASKED) == pytest.approx(2)
    assert eta(samples, NOW, tallies, 40) == pytest.approx(14)


def test_samples_of_an_earlier_version_give_no_estimate_by_a_page_limit() -> None:
    assert rate([(NOW - 4, 300, 4)], NOW, 12, ASKED) is None
    assert eta([(NOW - 4, 300, 4)], NOW, closed(12, of=457), 40) is None


BEGAN = datetime(2026, 11, 21, 10, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def test_a_crawl_ran_without_its_pauses() -> None:
    assert ran_seconds(BEGAN, at(100), 0, None) == 100
    assert ran_seconds(BEGAN, at(100), 30, None) == 70
    assert ran_seconds(BEGAN, at(100), 30, at(90)) == 60


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.none() | st.floats(-1e6, 1e6))
def test_clocks_that_differ_never_make_a_time_negative(until: float, idle: float, paused: float | None) -> None:
    assert ran_seconds(BEGAN, at(until), idle, None if paused is None else at(paused)) >= 0


@pytest.mark.parametrize(
    ("samples", "closed", "seconds"),
    [
        ([], 0, None),
        ([(NOW - 9, 1, 0)], 0, 9.0),  # nothing closed yet
        ([(NOW - 9, 5, 1), (NOW - 7, 9, 3), (NOW - 2, 9, 3)], 3, 7.0),  # a page that failed is a sample, too
        ([(NOW - 9, 5, 1), (NOW - 7, 9, 3)], 4, 7.0),  # closed too soon behind a sample to be one
        ([(NOW - 9, 5, 1), (NOW - 1, 9, 3)], 3, 1.0),
    ],
)
def test_how_long_no_page_has_closed(samples: list[Sample], closed: int, seconds: float | None) -> None:
    assert still_for(samples, NOW, closed) == seconds


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


RUNNING = ProgressState("running", False, 1, 120, 80, progress={"closed": 80}, receipt={})
FINISHED = ProgressState("finished", True, 1, 120, 120, progress={}, receipt={"fetched": 120})


def test_a_newcomer_is_told_state_and_progress() -> None:
    state, progress = events_since(RUNNING, "")
    assert state == b'event: state\ndata: {"state":"running"}\n\n'
    assert progress == b'id: running.1.120.80\nevent: progress\ndata: {"closed":80}\n\n'


def test_whoever_knows_it_is_told_nothing() -> None:
    assert list(events_since(RUNNING, RUNNING.id)) == []


def test_whoever_knows_the_state_is_told_the_progress_alone() -> None:
    assert len(list(events_since(RUNNING, "running.1.120.79"))) == 1


def test_the_end_has_the_receipt() -> None:
    assert list(events_since(FINISHED, RUNNING.id))[-1].splitlines()[1] == b"event: finished"


def test_a_crawl_that_goes_on_after_its_end_is_news() -> None:
    again = ProgressState("running", False, 2, 120, 119, progress={}, receipt={})
    assert again.id != RUNNING.id
    assert len(list(events_since(again, FINISHED.id))) == 2


def test_whatever_is_told_stays_in_its_line() -> None:
    said = event("progress", {"text": "a\nevent: finished\r\n\u2028"})
    assert said.count(b"\n") == 3
    assert json.loads(said.splitlines()[1].removeprefix(b"data: "))["text"].startswith("a\n")


def test_it_says_when_to_come_back() -> None:
    assert retry(1000) == b"retry: 1000\n\n"
