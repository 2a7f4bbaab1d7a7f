"""Canonical addresses that name each other are found out."""

from __future__ import annotations

import pytest

from crawler.core.html.page_metadata import Conflict, follows


@pytest.mark.parametrize(
    ("elsewhere", "conflict"),
    [
        ({"a": "b"}, None),
        ({"a": "b", "b": "c"}, Conflict.CHAIN),
        ({"a": "b", "b": "a"}, Conflict.LOOP),
        ({"a": "b", "b": "c", "c": "a"}, Conflict.LOOP),
        ({"a": "b", "b": "c", "c": "b"}, Conflict.CHAIN),  # the loop is that of b and c
    ],
)
def test_what_comes_of_a_page_that_names_another(elsewhere: dict[str, str], conflict: Conflict | None) -> None:
    assert follows("a", elsewhere) is conflict
