import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.exports.csv import defused, flat, separate


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "\uff1d1",
        "\u00a0=1",
        "\ufeff=1",
        "\x0b=1",
        "\x00=1",
        "\u200b+1",
    ],
)
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


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a;=1", "a;'=1"),
        ("a; =1", "a;' =1"),
        ('a;"=1"', 'a;\'"=1"'),
        ("a\t@x", "a\t'@x"),
        ("a\r\n-1", "a\r'\n'-1"),
        ("=1;+2", "'=1;'+2"),
        (["x;=1"], '["x;\'=1"]'),
        ("http://site.test/a;b=c?d=-1", "http://site.test/a;b=c?d=-1"),
        (7, 7),
    ],
)
def test_a_formula_that_begins_behind_another_separator_is_defused(text: object, cell: object) -> None:
    assert separate(text) == cell


@given(st.text(alphabet=";\t\n\r \"'=+-@a,"))
def test_wherever_a_file_is_cut_no_cell_is_a_formula(text: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerow(map(separate, ["a", text, "b"]))
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=separator):
            assert [cell for cell in row if cell.strip().startswith(("=", "+", "-", "@"))] == []
