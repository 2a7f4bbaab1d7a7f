import json

import pytest

from crawler.exports import jsonl
from crawler.exports.rows import rows
from tests.factories import SHOP_PAGE, a_shop, make_crawl, make_page

pytestmark = pytest.mark.django_db


def test_each_line_is_one_row_as_json() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title='An "odd"\ntitle, naïve 日本')
    make_page(crawl, "http://site.test/two")
    lines = list(jsonl.lines(crawl))
    assert all(line.endswith("}\n") and line.count("\n") == 1 for line in lines)
    assert [json.loads(line) for line in lines] == list(rows(crawl))
    assert "日本" in lines[0]


def test_an_extracted_number_or_truth_value_is_none_in_quotes_and_a_date_is_iso_8601() -> None:
    [line] = jsonl.lines(a_shop(SHOP_PAGE.format(price="9,50", since="12 March 2026")))
    assert '"price":9.5,"stock":7,"sold":true,"since":"2026-03-12"' in line
    assert '"sizes":[1.5,2],"days":["2026-03-12"]' in line


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_no_text_ends_a_line(end: str) -> None:
    forged = {"title": f'x{end}{{"url": "forged"}}{end}', "ü": None}
    line = jsonl.line_of(forged)
    assert line.splitlines() == [line[:-1]]
    assert json.loads(line) == forged
