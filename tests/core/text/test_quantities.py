"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.text import quantities


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


@given(st.text())
def test_reading_a_size_never_raises(typed: str) -> None:
    quantities.bytes_of(typed)


@given(st.integers(0, 10**17))
def test_an_exact_size_is_read_back_as_it_was(size: int) -> None:
    assert quantities.bytes_of(quantities.exact_size(size)) == size


def test_an_exact_size_has_the_largest_unit_that_keeps_it() -> None:
    assert [quantities.exact_size(size) for size in (2_000_000_000, 1_500_000, 1234)] == ["2GB", "1500kB", "1234B"]
