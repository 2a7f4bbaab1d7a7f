from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.exports.csv import defused, lines
from crawler.exports.rows import KEYS
from tests.exports.factories import make_crawl, make_page


@pytest.mark.django_db
def test_the_header_names_the_keys_and_every_page_is_a_record() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title='one, "two"\nthree')
    make_page(crawl, "http://site.test/b", http_status=200, outcome="2xx", status=1)
    header, first, second = csv.DictReader(io.StringIO("".join(lines(crawl)), newline="")), *_records(crawl)
    assert header.fieldnames == list(KEYS)
    assert first["title"] == 'one, "two"\nthree'
    assert first["http_status"] == first["parent"] == ""
    assert second["http_status"] == "200"
    assert second["url"] == "http://site.test/b"


@pytest.mark.django_db
def test_a_crawl_without_pages_is_a_header_alone() -> None:
    assert list(lines(make_crawl())) == [",".join(KEYS) + "\r\n"]


@pytest.mark.django_db
def test_a_title_that_a_spreadsheet_would_run_is_defused() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title='=HYPERLINK("http://evil.test","click")')
    assert _records(crawl)[0]["title"] == '\'=HYPERLINK("http://evil.test","click")'


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


def _records(crawl: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines(crawl)), newline="")))  # type: ignore[arg-type]
