"""Canonical addresses that name each other are found out."""

import pytest

from crawler.core.html.page_metadata import CanonicalProblem, follows


@pytest.mark.parametrize(
    ("elsewhere", "conflict"),
    [
        ({"a": "b"}, None),
        ({"a": "b", "b": "c"}, CanonicalProblem.CHAIN),
        ({"a": "b", "b": "a"}, CanonicalProblem.LOOP),
        ({"a": "b", "b": "c", "c": "a"}, CanonicalProblem.LOOP),
        ({"a": "b", "b": "c", "c": "b"}, CanonicalProblem.CHAIN),  # the loop is that of b and c
    ],
)
def test_what_comes_of_a_page_that_names_another(elsewhere: dict[str, str], conflict: CanonicalProblem | None) -> None:
    assert follows("a", elsewhere) is conflict
