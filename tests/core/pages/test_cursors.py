"""Cursors: what goes in comes out, and nothing else is taken for one."""

import base64
import string
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.pages.page_query import MAX_NUMBER, cursor_of, numbers_of

DIGITS = set(string.digits)
ARABIC_7 = "\u0667"  # a digit to `int` and to `\\d`
SIGNS = string.ascii_letters + string.digits + "-_.~ ="


@given(st.lists(st.integers(0, MAX_NUMBER), min_size=1, max_size=3))
def test_a_cursor_gives_back_its_numbers(numbers: list[int]) -> None:
    cursor = cursor_of(*numbers)
    assert numbers_of(cursor, len(numbers)) == tuple(numbers)
    assert cursor.isascii()
    assert not set(cursor) & set("+/=& ?#")


PARTS = st.integers(-2, 2**70).map(str) | st.sampled_from(
    ["", "7", " 7", "7 ", "+7", "1_0", ARABIC_7, "7e1", "0x7", "7\n"]
)


def packed(plain: str) -> str:
    """A cursor that stands for this text."""
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


@given(st.lists(PARTS, max_size=4).map(".".join), st.integers(1, 3))
@example("7", 1)
@example("7.8", 2)
@example("7.8", 1)
@example(f"{MAX_NUMBER}", 1)
@example(f"{MAX_NUMBER + 1}", 1)
@example("1_0", 1)
def test_a_cursor_stands_for_so_many_whole_numbers_or_is_refused(plain: str, count: int) -> None:
    parts = plain.split(".")
    if len(parts) == count and all(set(part) <= DIGITS and part and int(part) <= MAX_NUMBER for part in parts):
        assert numbers_of(packed(plain), count) == tuple(map(int, parts))
    else:
        refused(packed(plain), count)


@pytest.mark.parametrize(
    "plain", ["", "7.", ".7", "-1", "+7", " 7", "7\n", "1_0", ARABIC_7, "1e3", str(MAX_NUMBER + 1), "0" * 21]
)
def test_what_stands_for_no_number_is_refused(plain: str) -> None:
    refused(packed(plain), 1)


@given(st.text())
def test_text_that_is_none_is_refused_or_stands_for_a_number(text: str) -> None:
    numbers = taken_for(text, 1)
    assert numbers is None or (len(numbers) == 1 and 0 <= numbers[0] <= MAX_NUMBER)


def test_a_cursor_that_was_tampered_with_is_refused_or_stands_for_other_numbers() -> None:
    cursor = cursor_of(123_456, 789)
    changed = {cursor[:at] + new + cursor[at + 1 :] for at in range(len(cursor)) for new in (*SIGNS, "")} - {cursor}
    taken = {text: numbers for text in changed if (numbers := taken_for(text, 2)) is not None}
    assert 50 < len(taken) < len(changed) - 50
    assert all(0 <= number <= MAX_NUMBER for numbers in taken.values() for number in numbers)
    assert len(set(taken.values())) > 20


def test_a_cursor_that_was_cut_off_never_stands_for_as_many_numbers() -> None:
    cursor = cursor_of(123_456, 789)
    for length in range(len(packed("123456."))):
        refused(cursor[:length], 2)


def test_a_cursor_of_another_list_is_refused() -> None:
    refused(cursor_of(1), 3)
    refused(cursor_of(1, 2, 3), 1)


def refused(cursor: str, count: int) -> None:
    with pytest.raises(BadInput) as caught:
        numbers_of(cursor, count)
    assert caught.value.field == "cursor"


def taken_for(cursor: str, count: int) -> tuple[int, ...] | None:
    with suppress(BadInput):
        return numbers_of(cursor, count)
    return None
