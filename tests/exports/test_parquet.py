import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pyarrow as arrow
import pytest
from pyarrow import compute
from pyarrow import parquet as arrow_parquet

from crawler.core.pages.page_field import ValueType
from crawler.exports import parquet
from crawler.exports.rows import KEYS, NOTES, ExportColumn
from crawler.models import Crawl, PageFacts
from tests.factories import SHOP_PAGE, SHOP_RULES, a_shop, make_crawl, make_page

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


def test_an_extracted_field_has_the_type_of_its_rule() -> None:
    utc = arrow.timestamp("us", tz="UTC")
    schema = read(a_shop(SHOP_PAGE.format(price="9,50", since="12 March 2026"))).schema_arrow
    assert {name: schema.field(name).type for name in schema.names[len(KEYS) :]} == {
        "name": arrow.string(),
        "price": arrow.float64(),
        "stock": arrow.int64(),
        "sold": arrow.bool_(),
        "since": utc,
        "link": arrow.string(),
        "sizes": arrow.list_(arrow.float64()),
        "days": arrow.list_(utc),
        "tags": arrow.list_(arrow.string()),
        NOTES: arrow.string(),
    }


def test_extracted_values_are_read_back_as_what_they_are() -> None:
    day = datetime(2026, 3, 12, tzinfo=UTC)
    whole, moment, bad, bare = (
        read(
            a_shop(
                SHOP_PAGE.format(price="9", since="12 March 2026"),
                SHOP_PAGE.format(price="9,50", since="2026-03-12T10:30:00+02:00"),
                SHOP_PAGE.format(price="on request", since="soon"),
                "<p>",
            )
        )
        .read()
        .to_pylist()
    )
    assert (whole["name"], whole["price"], whole["stock"], whole["sold"]) == ("Kettle", 9.0, 7, True)
    assert (whole["since"], whole["link"]) == (day, "http://site.test/more")
    assert (whole["sizes"], whole["days"], whole["tags"]) == ([1.5, 2.0], [day], ["new", "red"])
    assert (moment["price"], moment["since"]) == (9.5, day + timedelta(hours=8, minutes=30))
    assert (bad["price"], bad["since"]) == (None, None)
    assert set(json.loads(bad[NOTES])) == {"price", "since"}
    assert [bare[rule["name"]] for rule in SHOP_RULES] == [None, None, None, False, None, None, [], [], []]


def test_a_column_can_be_counted_with() -> None:
    table = read(a_shop(*(SHOP_PAGE.format(price=price, since="2026-03-12") for price in (1, "2,5", "none")))).read()
    assert compute.sum(table["price"]).as_py() == 3.5
    assert compute.max(table["since"]).as_py() == datetime(2026, 3, 12, tzinfo=UTC)


def test_a_value_that_its_rule_cannot_have_made_is_null_and_breaks_no_file() -> None:
    crawl = a_shop(SHOP_PAGE.format(price=1, since="2026-03-12"))
    odd = {"name": 7, "price": "x", "stock": 2**70, "sold": "yes", "since": "0001-01-01T00:00:00+14:00", "sizes": 3}
    PageFacts.objects.update(fields={**odd, "days": ["soon", None], "tags": [1]})
    [row] = read(crawl).read().to_pylist()
    assert [row[name] for name in odd] == [None] * len(odd)
    assert (row["days"], row["tags"]) == ([None, None], [None])


def test_what_has_no_type_of_its_own_is_text_or_json(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[Any] = ["text", 3.5, True, ["a", "b"], None]
    monkeypatch.setattr(parquet, "columns_of", lambda crawl: [ExportColumn("price", ValueType.JSON)])
    monkeypatch.setattr(parquet, "rows", lambda crawl: ({"price": value} for value in values))
    table = read(make_crawl()).read()
    assert table["price"].to_pylist() == ["text", "3.5", "true", '["a","b"]', None]
