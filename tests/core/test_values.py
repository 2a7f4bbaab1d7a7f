"""What an extracted text is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.values import NoValue, date_in, number_in, value_of

BASE = "https://example.com/a/b"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("-3.5", -3.5),
        ("−3", -3),  # noqa: RUF001 (a minus sign)
        ("1e3", 1000),
        ("EUR 1,234.50 each", 1234.5),
        ("1.234,50 €", 1234.5),
        ("12,5", 12.5),
        ("1,234", 1234),
        ("1,234,567", 1234567),
        ("1.234.567", 1234567),
        ("1.234", 1.234),
        ("1 234 567 km", 1234567),
        ("1'234.5", 1234.5),
        ("12\u00a0345", 12345),
        ("$5.", 5),
    ],
)
def test_a_number_is_found_whatever_stands_around_it(text: str, number: float) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("free", "there is no number in 'free'"),
        ("3 of 5", "there are 2 numbers in '3 of 5'"),
        ("2026-03-12", "numbers"),
        ("1.2.3", "is no number"),
        ("1e999", "too large"),
        ("9" * 50, "too long"),
    ],
)
def test_what_is_not_one_number_is_none(text: str, said: str) -> None:
    with pytest.raises(NoValue, match=said):
        number_in(text)


def test_an_integer_is_whole() -> None:
    assert value_of("integer", "4,000 items", BASE) == 4000
    with pytest.raises(NoValue, match="not a whole number"):
        value_of("integer", "4.5", BASE)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-12", "2026-03-12"),
        ("2026-03-12T09:30:00Z", "2026-03-12T09:30:00+00:00"),
        ("Thu, 12 Mar 2026 09:30:00 GMT", "2026-03-12T09:30:00+00:00"),
        ("12 March 2026", "2026-03-12"),
        ("Mar 12, 2026", "2026-03-12"),
        ("12.03.2026", "2026-03-12"),
        (" 2026/03/12 ", "2026-03-12"),
    ],
)
def test_a_date_is_told_as_iso_8601(text: str, day: str) -> None:
    assert date_in(text) == day


def test_what_is_no_date_is_none() -> None:
    with pytest.raises(NoValue, match="is no date that can be read"):
        date_in("soon")


def test_a_url_is_whole_and_normalised() -> None:
    assert value_of("url", "../c#part", BASE) == "https://example.com/c"
    with pytest.raises(NoValue, match="is not a web address"):
        value_of("url", "javascript:alert(1)", BASE)


@given(st.sampled_from(["text", "number", "integer", "date", "url"]), st.text(max_size=80))
def test_no_text_does_harm(kind: str, text: str) -> None:
    try:
        value = value_of(kind, text, BASE)
    except NoValue:
        return
    assert isinstance(value, (str, int, float))
