"""The types of the fields that users' code finds are those of all values it ever found."""

import pytest

from crawler.core.pages.code_calls import BOOLEAN, JSON, MAX_COLUMNS, NUMBER, TEXT, UNKNOWN, merged, type_of


@pytest.mark.parametrize(
    ("value", "kind"),
    [(None, UNKNOWN), (True, BOOLEAN), (1, NUMBER), (1.5, NUMBER), ("a", TEXT), ([1], JSON), ({"a": 1}, JSON)],
)
def test_a_value_has_a_type(value: object, kind: str) -> None:
    assert type_of(value) == kind


@pytest.mark.parametrize(
    ("before", "then", "afterwards"),
    [(NUMBER, NUMBER, NUMBER), (NUMBER, TEXT, JSON), (UNKNOWN, TEXT, TEXT), (TEXT, UNKNOWN, TEXT), (JSON, TEXT, JSON)],
)
def test_values_of_several_types_are_json(before: str, then: str, afterwards: str) -> None:
    assert merged({"price": before}, {"price": then}) == {"price": afterwards}


def test_only_the_first_names_become_columns() -> None:
    many = {f"f{number}": TEXT for number in range(MAX_COLUMNS)}
    assert merged(many, {"one_more": TEXT, "f1": NUMBER}) == {**many, "f1": JSON}
