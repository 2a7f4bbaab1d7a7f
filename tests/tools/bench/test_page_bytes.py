"""What `bin/bench bytes` measures, and what it makes of it."""

from __future__ import annotations

import pytest

from tools.bench.arguments import parse
from tools.bench.collect import crawled
from tools.bench.page_bytes import pack, sizes, told


@pytest.mark.usefixtures("real_redis")
@pytest.mark.django_db(transaction=True)
def test_tables_and_indexes_of_a_crawl_are_measured() -> None:
    crawled(pages=200, batch=20)
    left = sizes()
    pack()
    packed = sizes()
    for name in ("crawler_page", "crawler_pagelinks", "crawler_pagefacts", "page_in_order"):
        assert left[name] > 0
        assert packed[name] > 0


def test_sizes_are_told_for_a_page_the_largest_first_and_for_large_crawls() -> None:
    left = {"page_in_order": 40_000, "crawler_page": 600_000, "crawler_crawl": 400}
    packed = {"page_in_order": 20_000, "crawler_page": 340_000, "crawler_crawl": 400}
    assert [line.split() for line in told(left, packed, 1000).splitlines()] == [
        ["bytes", "a", "page", "as", "left", "packed"],
        ["crawler_page", "600", "340"],
        ["page_in_order", "40", "20"],
        ["all", "640", "360"],
        ["10,000,000", "pages,", "GB", "6", "4"],
        ["100,000,000", "pages,", "GB", "64", "36"],
    ]


def test_it_measures_sqlite_unless_told_otherwise() -> None:
    assert parse(["bytes"]).postgres is None
