"""Numbers and spans of time as people read and write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.text import quantities
from crawler.core.text.quantities import exact_span, seconds_of


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (0.31, "0.3 s"),
        (9.96, "10 s"),  # never "10.0 s"
        (59.6, "1 min 0 s"),  # never "60 s"
        (72, "1 min 12 s"),
        (3599.7, "1 h 0 min"),
        (4000, "1 h 6 min"),
        (90000, "25 h 0 min"),
    ],
)
def test_a_duration_shows_its_two_largest_units(seconds: float, text: str) -> None:
    assert quantities.duration(seconds) == text


@pytest.mark.parametrize(
    ("bytes_read", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_960, "1.0 MB"),  # never "1000.0 kB"
        (14_600_000, "14.6 MB"),
        (5_000_000_000_000_000, "5,000.0 TB"),
    ],
)
def test_a_size_counts_by_thousands(bytes_read: int, text: str) -> None:
    assert quantities.size(bytes_read) == text


@pytest.mark.parametrize(
    ("pages_a_second", "text"),
    [
        (None, quantities.DASH),
        (0.0, "0.0/s"),
        (4.26, "4.3/s"),
        (99.97, "100/s"),  # never "100.0/s"
        (1533.7, "1,534/s"),
    ],
)
def test_a_rate_is_a_dash_until_it_is_known(pages_a_second: float | None, text: str) -> None:
    assert quantities.rate(pages_a_second) == text


def test_one_page_is_not_several() -> None:
    assert [quantities.counted(number, "page") for number in (1, 0, 1170)] == ["1 page", "0 pages", "1,170 pages"]
    assert quantities.counted(2, "batch") == "2 batches"


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("500", 500),
        ("500B", 500),
        ("10MB", 10_000_000),
        ("10 mb", 10_000_000),
        ("10m", 10_000_000),
        ("1.5GB", 1_500_000_000),
        (" 2 TB ", 2_000_000_000_000),
        ("2GiB", 2 * 1024**3),
        ("1.0005kB", 1000),  # there is no half byte
        ("0", 0),  # refused by `check_options`, which says why
    ],
)
def test_a_size_is_understood(typed: str, size: int) -> None:
    assert quantities.bytes_of(typed) == size


@pytest.mark.parametrize(
    "typed", ["", "much", "-1", "1,5GB", "10 XB", "MB", "1e9", "nan", "10MB 5kB", "٣MB", "9" * 5000]
)
def test_what_is_no_size_is_none(typed: str) -> None:
    assert quantities.bytes_of(typed) is None


@given(st.integers(0, 10**17))
def test_an_exact_size_is_read_back_as_it_was(size: int) -> None:
    assert quantities.bytes_of(quantities.exact_size(size)) == size


def test_an_exact_size_has_the_largest_unit_that_keeps_it() -> None:
    assert [quantities.exact_size(size) for size in (2_000_000_000, 1_500_000, 1234)] == ["2GB", "1500kB", "1234B"]


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


@given(st.floats(0, 366 * 86400))
def test_an_exact_span_is_read_back_as_it_was(seconds: float) -> None:
    assert seconds_of(exact_span(seconds)) == seconds


def test_an_exact_span_has_units_when_it_is_whole() -> None:
    spans = [exact_span(seconds) for seconds in (7200.0, 90, 90061, 0.5, 0)]
    assert spans == ["2h", "1m 30s", "1d 1h 1m 1s", "0.5", "0"]
