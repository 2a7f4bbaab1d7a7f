"""What an extracted text is worth."""

from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from math import isfinite
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.core.extraction.extractor import FieldFault, FieldProblem, NoValue, date_in, number_in, value_of
from crawler.core.urls.normalise import normalise

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
    ("text", "fault", "number"),
    [
        ("free", FieldFault.NO_NUMBER, 0),
        ("3 of 5", FieldFault.NUMBERS, 2),
        ("2026-03-12", FieldFault.NUMBERS, 3),
        ("1.2.3", FieldFault.NOT_A_NUMBER, 0),
        ("1e999", FieldFault.LARGE_NUMBER, 0),
        ("9" * 50, FieldFault.LONG_NUMBER, 0),
    ],
)
def test_what_is_not_one_number_is_none(text: str, fault: FieldFault, number: int) -> None:
    with pytest.raises(NoValue) as none:
        number_in(text)
    assert none.value.problem == FieldProblem(fault, text, number)


def test_an_integer_is_whole() -> None:
    assert value_of("integer", "4,000 items", BASE) == 4000
    with pytest.raises(NoValue) as none:
        value_of("integer", "4.50", BASE)
    assert none.value.problem == FieldProblem(FieldFault.NOT_WHOLE, "4.5")


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
    with pytest.raises(NoValue) as none:
        date_in("soon")
    assert none.value.problem == FieldProblem(FieldFault.NO_DATE, "soon")


def test_a_url_is_whole_and_normalised() -> None:
    assert value_of("url", "../c#part", BASE) == "https://example.com/c"
    with pytest.raises(NoValue) as none:
        value_of("url", "javascript:alert(1)", BASE)
    assert none.value.problem == FieldProblem(FieldFault.NO_URL, "javascript:alert(1)")


PARTS = ["EUR", " ", "1", "234", "9.5", "1,234", "1.234,50", "-", "−", "e9", "e999", "2026", "-03", "-12", "T09:30"]  # noqa: RUF001
PARTS += ["+02:00", "Z", "12", "March", "Mar", ".", ",", "Thu", "09:30:00", "GMT", "31", "0", "99999999999999999999"]


def is_day_or_moment(value: Any) -> bool:
    return datetime.fromisoformat(value).isoformat() in {value, f"{value}T00:00:00"}


KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": lambda value: type(value) in (int, float) and isfinite(value),
    "integer": lambda value: type(value) is int and abs(value) < 2**53,
    "date": is_day_or_moment,
    "url": lambda value: normalise(value) == value,
}


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(max_size=80) | st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join))
@example(text="12 March 2026")
@example(text="2026-03-12T09:30+02:00")
@example(text="Thu, 12 Mar 2026 09:30:00 GMT")
@example(text="EUR 1.234,50")
@example(text="1e999")
def test_whatever_the_text_its_value_is_of_the_kind_that_was_asked_for(kind: str, text: str) -> None:
    with suppress(NoValue):
        assert KINDS[kind](value_of(kind, text, BASE)), text


@given(st.integers(-(2**53) + 1, 2**53 - 1), st.sampled_from(["{}", "EUR {}", "{:,} items", "about {} each"]))
def test_a_whole_number_is_read_whatever_stands_around_it(number: int, written: str) -> None:
    assert value_of("integer", written.format(number), BASE) == value_of("number", written.format(number), BASE)
    assert value_of("integer", written.format(number), BASE) == number


@given(st.dates(min_value=date(1000, 1, 1)), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%b %d, %Y", "%d.%m.%Y"]))
def test_a_day_is_read_however_it_is_written(day: date, form: str) -> None:
    assert value_of("date", day.strftime(form), BASE) == day.isoformat()
