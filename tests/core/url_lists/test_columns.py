import pytest

from crawler.core.errors import BadInput
from crawler.core.url_lists.reader import (
    MAX_ROW_LINES,
    NOT_TEXT,
    UNCLOSED,
    ColumnChoice,
    Layout,
    ListLine,
    layout_of,
    rows_of,
)
from crawler.core.url_lists.values import MAX_META_COLUMNS

URL = "https://example.com/"


def lines(*texts: str) -> list[ListLine]:
    return [ListLine(number, text, "") for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize(
    ("file_name", "beginning", "layout"),
    [
        ("urls.txt", [URL], None),
        ("-", [f"{URL}a,b;c|d"], None),  # a URL with such characters is still one URL a line
        ("urls.txt", ["url"], Layout("\t", 0, None, 1)),  # a header tells a table whatever the file is called
        ("-", ["Name,URL,Priority"], Layout(",", 1, 2, 1, meta=(("Name", 0),))),
        # as Excel writes it where the comma is a decimal point
        ("-", ['"Address";"Status"'], Layout(";", 0, None, 1, meta=(("Status", 1),))),
        ("-", ["id|loc"], Layout("|", 1, None, 1, meta=(("id", 0),))),
        ("a.tsv", ["id\turi"], Layout("\t", 1, None, 1, meta=(("id", 0),))),
        ("-", ["ttl,url,not_before, ,a,A,a"], Layout(",", 1, None, 1, 0, 2, (("a", 4), ("A", 5)))),
        ("a.CSV.GZ", ["link,link"], Layout(",", 0, None, 1)),  # the first of two
        ("a.csv", [f"1,{URL}"], Layout(",", 1, None, 0)),  # no header: the first column with a URL
        ("a.csv", [f'1;"{URL},x";{URL}'], Layout(";", 1, None, 0)),
        ("a.csv", ["Top pages,Clicks", f"{URL},7"], Layout(",", 0, None, 0)),  # a header without a name we know
        ("a.csv", ["example.com;7"], Layout(";", 0, None, 0)),
        ("a.csv", [URL], Layout(",", 0, None, 0)),
    ],
)
def test_the_beginning_tells_how_a_list_is_laid_out(
    file_name: str, beginning: list[str], layout: Layout | None
) -> None:
    assert layout_of(lines(*beginning), file_name, ColumnChoice()) == layout


@pytest.mark.parametrize(
    ("columns", "url", "priority"),
    [
        (ColumnChoice(), 0, 2),
        (ColumnChoice(url="Target"), 1, 2),
        (ColumnChoice(url=" target ", priority="weight"), 1, 3),
        (ColumnChoice(url="2"), 1, 2),  # by number, from 1
        (ColumnChoice(priority="4"), 0, 3),
    ],
)
def test_columns_can_be_chosen(columns: ColumnChoice, url: int, priority: int) -> None:
    layout = layout_of(lines("url,target,priority,weight"), "-", columns)
    assert layout is not None
    assert (layout.url, layout.priority, layout.header) == (url, priority, 1)
    assert not {url, priority} & {place for _, place in layout.meta}


def test_a_table_has_a_limit_of_further_columns() -> None:
    names = [f"c{number}" for number in range(MAX_META_COLUMNS)]
    layout = layout_of(lines(",".join(["url", *names])), "-", ColumnChoice())
    assert layout is not None
    assert len(layout.meta) == MAX_META_COLUMNS
    with pytest.raises(BadInput, match=r"Line 1 names 65 additional columns; .* at most 64\. Remove some of them\."):
        layout_of(lines(",".join(["url", *names, "one more"])), "-", ColumnChoice())


def test_columns_of_a_table_without_names_are_chosen_by_number() -> None:
    assert layout_of(lines(f"{URL},{URL}b,3"), "-", ColumnChoice("2", "3")) == Layout(",", 1, 2, 0)


@pytest.mark.parametrize(
    ("columns", "first", "field", "line"),
    [
        (ColumnChoice(url="page"), "url,priority", "list_column", "no column 'page'; its columns are: url, priority."),
        (ColumnChoice(priority="rank"), "url,b", "priority_column", "no column 'rank'; its columns are: url, b."),
        (ColumnChoice(url="page"), f"{URL},7", "list_column", "has no column names; enter a number from 1."),
        (ColumnChoice(url="0"), f"{URL},7", "list_column", "no column '0'"),
        (ColumnChoice(url="9" * 5000), f"{URL},7", "list_column", "no column '999"),
    ],
)
def test_a_chosen_column_must_be_there(columns: ColumnChoice, first: str, field: str, line: str) -> None:
    with pytest.raises(BadInput, match=line) as caught:
        layout_of(lines(first), "-", columns)
    assert caught.value.field == field


def rows(*texts: str) -> list[tuple[int, list[str], str]]:
    return [(row.number, row.fields, row.fault) for row in rows_of(iter(lines(*texts)), ",")]


def test_quotes_hold_delimiters_quotes_and_line_ends() -> None:
    assert rows('a,"b,""c"""', '1, "two', "", 'lines",3', "d") == [
        (1, ["a", 'b,"c"'], ""),
        (2, ["1", "two\n\nlines", "3"], ""),
        (5, ["d"], ""),
    ]


def test_a_quote_that_is_never_closed_costs_its_own_line_alone() -> None:
    many = [str(number) for number in range(2 * MAX_ROW_LINES)]
    found = rows('"a', *many)
    assert found[0] == (1, [], UNCLOSED)
    assert [fields for _, fields, _ in found[1:]] == [[text] for text in many]
    assert rows('"a', '"b', "c") == [(1, [], UNCLOSED), (2, [], UNCLOSED), (3, ["c"], "")]


def test_text_behind_a_closing_quote_is_a_fault() -> None:
    assert rows('"a"b,c', "d") == [(1, [], UNCLOSED), (2, ["d"], "")]


def test_a_line_that_cannot_be_read_is_a_row_of_its_own_even_between_quotes() -> None:
    bad = [ListLine(1, '"a', ""), ListLine(2, "?", NOT_TEXT), ListLine(3, 'b"', "")]
    assert [(row.number, row.fault) for row in rows_of(iter(bad), ",")] == [(1, UNCLOSED), (2, NOT_TEXT), (3, "")]
