from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from pyarrow import parquet as arrow_parquet

from crawler.exports import parquet
from crawler.exports.columns import NOTES
from crawler.exports.rows import KEYS
from crawler.models import Crawl
from tests.exports.factories import make_crawl, make_page

pytestmark = pytest.mark.django_db


def read(crawl: Crawl) -> arrow_parquet.ParquetFile:
    return arrow_parquet.ParquetFile(BytesIO(b"".join(parquet.pieces(crawl))))


def test_every_page_is_a_row_of_typed_values() -> None:
    crawl = make_crawl()
    moment = datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    make_page(crawl, "http://site.test/", http_status=200, fetched_at=moment, in_sitemap=True, title="日本")
    [row] = read(crawl).read().to_pylist()
    assert list(row) == list(KEYS)
    assert (row["http_status"], row["in_sitemap"], row["title"]) == (200, True, "日本")
    assert row["fetched_at"] == moment
    assert row["parent"] is None


def test_a_crawl_without_pages_has_the_columns_all_the_same() -> None:
    assert read(make_crawl()).schema_arrow.names == list(KEYS)


def test_rows_are_written_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP", 2)
    crawl = make_crawl()
    for number in range(5):
        make_page(crawl, f"http://site.test/{number}")
    assert read(crawl).num_row_groups == 3


def test_an_extracted_field_is_text_or_json(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[Any] = ["text", 3.5, True, ["a", "b"], None]
    monkeypatch.setattr("crawler.exports.columns.fields_of", lambda crawl: ["price"])
    monkeypatch.setattr(
        parquet, "rows", lambda crawl: ({**dict.fromkeys((*KEYS, NOTES)), "price": value} for value in values)
    )
    table = read(make_crawl()).read()
    assert table["price"].to_pylist() == ["text", "3.5", "true", '["a","b"]', None]
