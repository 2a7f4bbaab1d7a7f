from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from openpyxl import load_workbook

from crawler.core.errors import BadInput
from crawler.exports import xlsx
from crawler.exports.formats import FORMATS
from crawler.exports.rows import KEYS
from crawler.models import Crawl
from tests.factories import SHOP_PAGE, a_shop, make_crawl, make_page

pytestmark = pytest.mark.django_db


def cells(crawl: Crawl) -> list[dict[str, Any]]:
    """Each row below the header, name -> cell."""
    sheet = load_workbook(BytesIO(b"".join(xlsx.pieces(crawl)))).active
    assert sheet is not None
    header, *rows = sheet.iter_rows()
    return [{str(name.value): cell for name, cell in zip(header, row, strict=True)} for row in rows]


def test_every_page_is_a_row_below_the_names() -> None:
    crawl = make_crawl()
    moment = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    make_page(crawl, "http://site.test/", http_status=200, fetched_at=moment, in_sitemap=True, title="日本")
    [row] = cells(crawl)
    assert list(row) == list(KEYS)
    assert (row["http_status"].value, row["in_sitemap"].value, row["title"].value) == (200, True, "日本")
    assert row["fetched_at"].value == moment.replace(tzinfo=None)


def test_an_extracted_number_or_truth_value_is_one_in_its_cell_and_a_date_is_text() -> None:
    [row] = cells(a_shop(SHOP_PAGE.format(price="9,50", since="12 March 2026")))
    assert [row[name].data_type for name in ("price", "stock", "sold", "since", "sizes")] == ["n", "n", "b", "s", "s"]
    assert (row["price"].value, row["sold"].value, row["since"].value) == (9.5, True, "2026-03-12")


@pytest.mark.parametrize("title", ["=1+1", "+1", "@SUM(A1)", "{=1+1}", "http://other.test/", "12", "\x02"])
def test_text_of_strangers_stays_text(title: str) -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title=title)
    [row] = cells(crawl)
    assert row["title"].data_type == "s"
    assert row["title"].hyperlink is None
    assert str(row["title"].value)[:1] != "="


def test_text_that_no_cell_can_hold_is_cut() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", error="x" * 40_000)
    assert len(cells(crawl)[0]["error"].value) == 32_767


def test_more_pages_than_a_sheet_holds_are_refused_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_ROWS", 3)
    crawl = make_crawl()
    for number in range(2):
        make_page(crawl, f"http://site.test/{number}")
    assert FORMATS["xlsx"](crawl)
    make_page(crawl, "http://site.test/2")
    with pytest.raises(BadInput, match="can contain 2 pages, and this crawl has 3; choose csv, jsonl or parquet"):
        FORMATS["xlsx"](crawl)
