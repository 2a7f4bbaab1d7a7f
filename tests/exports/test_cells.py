from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.exports.cells import defused, flat


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1"])  # noqa: RUF001
def test_every_way_to_begin_a_formula_is_defused(cell: str) -> None:
    assert defused(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "plain", "a=b", "http://site.test/", "'quoted", 5, -5, None])
def test_anything_else_stays_as_it_is(cell: object) -> None:
    assert defused(cell) == cell


@given(st.text())
def test_defusing_twice_is_defusing_once_and_loses_nothing(text: str) -> None:
    assert defused(defused(text)) == defused(text)
    assert defused(text).removeprefix("'") == text.removeprefix("'")


def test_a_list_is_flat_as_json() -> None:
    assert flat(["a", 1, None]) == '["a",1,null]'


def test_what_is_flat_is_harmless_too() -> None:
    assert flat("=1+1") == "'=1+1"
