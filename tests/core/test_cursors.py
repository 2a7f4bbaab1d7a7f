"""Cursors: what goes in comes out, and nothing else is taken for one."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.cursors import MOST, cursor_of, numbers_of
from crawler.core.errors import BadInput


@given(st.lists(st.integers(0, MOST), min_size=1, max_size=3))
def test_a_cursor_gives_back_its_numbers(numbers: list[int]) -> None:
    cursor = cursor_of(*numbers)
    assert numbers_of(cursor, len(numbers)) == tuple(numbers)
    assert cursor.isascii()
    assert not set(cursor) & set("+/=& ?#")


@given(st.text())
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    with suppress(BadInput):
        assert all(0 <= number <= MOST for number in numbers_of(text, 1))


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(BadInput):
        numbers_of(cursor_of(1), 3)
