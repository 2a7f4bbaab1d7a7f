"""Which pages of a large crawl link to one is looked up in an index once that is made, on either database."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.html import link_codec
from crawler.models import Crawl, LinkIndex, PageLinks
from crawler.reports import links as link_index
from crawler.reports import result_cache
from crawler.reports.links import inlinks, pages_with
from tests.factories import make_crawl, make_page
from tests.reports.pages import read_page

pytestmark = pytest.mark.django_db
SITE = "http://site.test"
KEYS = [link_codec.short_key(f"{SITE}/{number}") for number in range(12)]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest crawl counts as large, and a part of its index has three pages."""
    monkeypatch.setattr(result_cache, "LEAST", 0)
    monkeypatch.setattr(link_index, "PART_PAGES", 3)


@pytest.fixture
def crawl() -> Crawl:
    """Page n links to all before it, and to itself; those of another crawl stand between its rows."""
    other = make_crawl()
    crawl = make_crawl(state="finished", discovered=10)
    for number in range(10):
        links = {f"{SITE}/{place}": str(place) for place in range(number + 1)}
        read_page(crawl, f"{SITE}/{number}", links)
        read_page(other, f"{SITE}/{number}", {f"{SITE}/11": "elsewhere"})
    return crawl


def read_through(crawl: Crawl) -> list[list[int]]:
    return [link_index._read_through(crawl, key) for key in KEYS]


def statements_of(crawl: Crawl, key: bytes) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        pages_with(crawl, key)
    return [query["sql"] for query in captured.captured_queries]


def test_it_says_the_same_as_reading_through(crawl: Crawl) -> None:
    expected = read_through(crawl)
    assert [len(pages) for pages in expected] == [*range(10, 0, -1), 0, 0]
    for _ in range(2):
        assert [pages_with(crawl, key, None) for key in KEYS] == expected


def test_a_part_is_made_each_time_while_a_user_waits_and_the_rest_is_read_through(crawl: Crawl) -> None:
    expected = read_through(crawl)
    for parts in (1, 2, 3, 4, 4):
        assert pages_with(crawl, KEYS[0], 0.0) == expected[0]
        assert LinkIndex.objects.count() == parts * link_index.BUCKETS
    assert [pages_with(crawl, key) for key in KEYS] == expected


def test_once_it_is_complete_the_links_of_pages_are_read_through_no_more(crawl: Crawl) -> None:
    pages_with(crawl, KEYS[0], None)
    asked = statements_of(crawl, KEYS[4])
    assert not any("instr(" in sql or "position(" in sql for sql in asked), asked
    lookup = next(sql for sql in asked if '"packed"' in sql)
    plan = plan_of(lookup)
    if connection.vendor == "sqlite":
        assert "SEARCH crawler_linkindex USING INDEX" in plan
        assert "(crawl_id=? AND bucket=?" in plan
    else:
        assert "link_index_part" in plan


def plan_of(sql: str) -> str:
    """How the database answers this; PostgreSQL without the liberty to read a small table whole."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {'QUERY PLAN' if connection.vendor == 'sqlite' else ''} {sql}")
        return " ".join(str(row) for row in cursor.fetchall())


def test_one_row_a_part_is_read_for_a_target(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    pages_with(crawl, KEYS[0], None)
    unpacked = list[int]()
    found = link_index._found
    monkeypatch.setattr(link_index, "_found", lambda *given: unpacked.append(1) or found(*given))
    assert pages_with(crawl, KEYS[9]) == read_through(crawl)[9]
    assert len(unpacked) == 4


def test_a_crawl_that_was_opened_again_has_another_index(crawl: Crawl) -> None:
    pages_with(crawl, KEYS[0], None)
    late = read_page(crawl, f"{SITE}/late", {f"{SITE}/0": "late"})
    first = PageLinks.objects.filter(crawl=crawl).order_by("page_id").first()
    assert first is not None
    first.delete()
    crawl.round, crawl.discovered = 2, 11
    crawl.save()
    expected = read_through(crawl)
    assert expected[0][-1] == late.pk
    assert [pages_with(crawl, key, None) for key in KEYS] == expected
    assert LinkIndex.objects.values("moment").distinct().count() == 1


def test_a_crawl_that_goes_on_and_a_small_one_have_none(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl.state = "running"
    assert pages_with(crawl, KEYS[0]) == read_through(crawl)[0]
    crawl.state = "finished"
    monkeypatch.setattr(result_cache, "LEAST", 10)
    assert pages_with(crawl, KEYS[0]) == read_through(crawl)[0]
    assert not LinkIndex.objects.exists()


def test_two_that_make_it_at_a_time_make_one(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, rows = read_through(crawl), link_index._rows
    meanwhile = list[Any]([None])

    def while_another(*given: Any) -> Any:
        found = rows(*given)
        if meanwhile:
            meanwhile.pop()
            pages_with(crawl, KEYS[0], None)
        return found

    monkeypatch.setattr(link_index, "_rows", while_another)
    assert [pages_with(crawl, key, None) for key in KEYS] == expected
    assert LinkIndex.objects.count() == 4 * link_index.BUCKETS


def test_it_goes_with_its_crawl(crawl: Crawl) -> None:
    make_page(crawl, f"{SITE}/x")
    assert [link.page for link in inlinks(crawl, f"{SITE}/9")] == [f"{SITE}/9"]
    crawl.delete()
    assert not LinkIndex.objects.exists()
