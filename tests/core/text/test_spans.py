"""A span of time as people write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.text.quantities import exact_span, seconds_of


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("90", 90.0),
        ("0.5", 0.5),
        (" 90 ", 90.0),
        ("90s", 90.0),
        ("90 s", 90.0),
        ("30m", 1800.0),
        ("30 min", 1800.0),
        ("2h", 7200.0),
        ("2H", 7200.0),
        ("1.5 hours", 5400.0),
        ("1h 30m", 5400.0),
        ("1h30m", 5400.0),
        ("1d", 86400.0),
        ("2 days", 172800.0),
        ("1 day 1 hour 1 minute 1 second", 90061.0),
        ("-1", -1.0),  # refused by `check_options`, which says why
    ],
)
def test_a_span_is_understood(typed: str, seconds: float) -> None:
    assert seconds_of(typed) == seconds


@pytest.mark.parametrize("typed", ["", "soon", "2 weeks", "h", "1h soon", "-2h", "1:30", "nan", "inf", "1,5h", "٣h"])
def test_what_is_no_span_is_none(typed: str) -> None:
    assert seconds_of(typed) is None


@given(st.text())
def test_it_never_raises(typed: str) -> None:
    seconds_of(typed)


@given(st.floats(0, 366 * 86400))
def test_an_exact_span_is_read_back_as_it_was(seconds: float) -> None:
    assert seconds_of(exact_span(seconds)) == seconds


def test_an_exact_span_has_units_when_it_is_whole() -> None:
    spans = [exact_span(seconds) for seconds in (7200.0, 90, 90061, 0.5, 0)]
    assert spans == ["2h", "1m 30s", "1d 1h 1m 1s", "0.5", "0"]
