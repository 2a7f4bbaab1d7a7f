from argparse import ArgumentTypeError

import pytest

from crawler.management.numbers import positive, positive_span, seconds, span, whole


@pytest.mark.parametrize(("typed", "number"), [("0", 0), ("12", 12), ("-3", -3)])
def test_a_whole_number_is_taken(typed: str, number: int) -> None:
    assert whole(typed) == number


@pytest.mark.parametrize("typed", ["", "abc", "1.5", "1e3", "nan", "9" * 5000])
def test_anything_else_is_no_whole_number(typed: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a whole number"):
        whole(typed)


@pytest.mark.parametrize("typed", ["0", "-1"])
def test_a_count_is_one_or_more(typed: str) -> None:
    with pytest.raises(ArgumentTypeError, match="1 or more"):
        positive(typed)


@pytest.mark.parametrize(("typed", "number"), [("0", 0.0), ("0.3", 0.3), ("1e2", 100.0)])
def test_seconds_may_have_a_fraction(typed: str, number: float) -> None:
    assert seconds(typed) == number


@pytest.mark.parametrize("typed", ["", "soon", "nan", "inf", "-inf", "5s"])
def test_what_is_no_finite_number_is_no_number_of_seconds(typed: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a number of seconds"):
        seconds(typed)


@pytest.mark.parametrize(("typed", "number"), [("90", 90.0), ("2h", 7200.0), ("1h 30m", 5400.0), ("0", 0.0)])
def test_a_span_may_have_units(typed: str, number: float) -> None:
    assert span(typed) == number


def test_what_is_no_span_is_told_with_examples() -> None:
    with pytest.raises(ArgumentTypeError, match="'soon' is not a time such as 2h, 30m, 90s or 90"):
        span("soon")


@pytest.mark.parametrize("typed", ["0", "-0.1"])
def test_a_time_limit_is_more_than_nothing(typed: str) -> None:
    with pytest.raises(ArgumentTypeError, match="more than 0"):
        positive_span(typed)
