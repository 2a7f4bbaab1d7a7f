"""A rate is measured, and an end is only foretold while it is in sight."""

from __future__ import annotations

from itertools import pairwise

import pytest

from crawler.core.progress import DENSE, KEPT, SPACING, Sample, eta, pace, rate, with_sample

NOW = 1000.0


def steady(discovered: int, per_second: int, seconds: int = 8) -> list[Sample]:
    """A crawl that knows all its pages and closes some each second."""
    samples: list[Sample] = []
    for second in range(seconds):
        samples = with_sample(samples, NOW - seconds + second, discovered, per_second * second)
    return samples


def test_samples_keep_their_distance() -> None:
    samples = with_sample([], NOW, 1, 0)
    assert with_sample(samples, NOW + SPACING / 2, 2, 1) == samples
    assert len(with_sample(samples, NOW + SPACING, 2, 1)) == 2


def test_the_samples_reach_over_the_whole_crawl_and_lie_close_together_at_its_end() -> None:
    samples: list[Sample] = []
    for second in range(10 * KEPT):
        samples = with_sample(samples, NOW + second, second, second)
    assert len(samples) == KEPT
    assert samples[0][1] == 0
    assert [sample[1] for sample in samples[-DENSE:]] == list(range(10 * KEPT - DENSE, 10 * KEPT))
    gaps = [new[0] - old[0] for old, new in pairwise(samples)]
    assert max(gaps) <= 40  # spread evenly it would be 15 s


def test_the_pace_is_pages_a_second_from_sample_to_sample() -> None:
    assert pace([(NOW, 100, 0), (NOW + 2, 100, 40), (NOW + 3, 100, 40)]) == [(NOW + 2, 20.0), (NOW + 3, 0.0)]


def test_a_pace_is_never_negative_and_needs_two_samples() -> None:
    assert pace([(NOW, 5, 5)]) == []
    assert pace([(NOW, 5, 5), (NOW, 5, 6), (NOW + 1, 5, 2)]) == [(NOW + 1, 0.0)]


def test_the_rate_is_pages_a_second() -> None:
    assert rate(steady(1000, 20), NOW, closed=160) == pytest.approx(20)


def test_there_is_no_rate_before_there_is_something_to_measure() -> None:
    assert rate([], NOW, 5) is None
    assert rate(with_sample([], NOW, 5, 0), NOW + 0.1, 5) is None


def test_a_stalled_crawl_has_rate_zero_and_no_end_in_sight() -> None:
    samples = [(NOW - 9, 100, 40), (NOW - 5, 100, 40)]
    assert rate(samples, NOW, 40) == 0
    assert eta(samples, NOW, 100, 40) is None


def test_the_end_is_foretold_when_nothing_new_turns_up() -> None:
    assert eta(steady(1000, 20), NOW, 1000, 160) == pytest.approx(42)


def test_no_end_is_foretold_while_many_new_pages_turn_up() -> None:
    samples = [(NOW - 8, 100, 0), (NOW - 4, 300, 80)]
    assert eta(samples, NOW, 500, 160) is None


def test_no_end_is_foretold_when_all_is_done() -> None:
    assert eta(steady(160, 20), NOW, 160, 160) is None
