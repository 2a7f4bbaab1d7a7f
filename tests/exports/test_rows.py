from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from syrupy.assertion import SnapshotAssertion

from crawler.core.options.catalogue import CrawlOptions
from crawler.exports import rows as rows_module
from crawler.exports.rows import KEYS, columns_of, page_rows, rows, selected
from crawler.models import Crawl, Page, PageFacts, PageLoad
from tests.databases import sqlite_plans
from tests.factories import make_crawl, make_page
from tests.text_files import listed

pytestmark = pytest.mark.django_db


def test_some_pages_are_told_of_in_the_order_asked_for_without_those_that_are_open() -> None:
    crawl = make_crawl()
    start = make_page(crawl, "http://site.test/", status=Page.CLOSED, outcome="2xx", http_status=200)
    found = make_page(crawl, "http://site.test/a", status=Page.CLOSED, outcome="4xx", parent_id=start.id)
    opened = make_page(crawl, "http://site.test/b")
    elsewhere = make_page(make_crawl(), "http://other.test/", status=Page.CLOSED, outcome="2xx")
    told = page_rows(crawl, [found.id, opened.id, start.id, elsewhere.id])
    assert [(row["url"], row["parent"]) for row in told] == [
        ("http://site.test/a", "http://site.test/"),
        ("http://site.test/", None),
    ]
    assert tuple(told[0]) == KEYS


def test_a_row_has_every_key_in_its_order_and_none_for_what_is_not_there(golden: SnapshotAssertion) -> None:
    crawl = make_crawl()
    start = make_page(crawl, "http://site.test/", status=Page.CLOSED, outcome="2xx", http_status=200)
    make_page(
        crawl,
        "http://site.test/old",
        status=Page.CLOSED,
        outcome="3xx",
        http_status=301,
        content_type="text/html",
        title="Moved",
        depth=1,
        parent_id=start.id,
        redirect_to="http://site.test/new",
        bytes=12,
        elapsed_ms=7,
        attempts=2,
        fetched_at=datetime(2025, 1, 2, 3, 4, 5, 678900, tzinfo=UTC),
        error="slow",
        directives="noindex nofollow",
        rel="ugc",
        not_followed=3,
        reused=True,
        in_sitemap=True,
        linked=False,
        lastmod="2025-01-01",
    )
    moved = Page.objects.get(url="http://site.test/old")
    PageFacts.objects.create(
        page_id=moved.id,
        crawl=crawl,
        description="What was here",
        h1="Moved on",
        canonical="http://site.test/new",
        words=2,
        first_byte_ms=5,
    )
    make_page(crawl, "http://site.test/open")
    told = {row["url"]: [f"{key}: {value!r}" for key, value in row.items()] for row in list(rows(crawl))[1:]}
    assert listed(told) == golden


def test_how_rendered_pages_loaded_is_told_and_nothing_of_others() -> None:
    crawl = make_crawl(options=CrawlOptions(render="always").to_plain())
    page = make_page(crawl, "http://site.test/")
    make_page(crawl, "http://site.test/open")
    PageLoad.objects.create(page_id=page.id, crawl=crawl, lcp_ms=812, resources=3)
    columns = ("lcp_ms", "cls", "console_errors", "resources", "resource_bytes")
    told = [[row[column] for column in columns] for row in rows(crawl)]
    assert told == [[812, None, 0, 3, None], [None] * 5]


def test_pages_of_other_crawls_stay_out() -> None:
    crawl, other = make_crawl(), make_crawl()
    make_page(other, "http://site.test/other")
    make_page(crawl, "http://site.test/")
    assert [row["url"] for row in rows(crawl)] == ["http://site.test/"]


@pytest.mark.parametrize("obey", [False, True])
def test_pages_that_ask_not_to_be_indexed_are_left_out_when_that_is_obeyed(obey: bool) -> None:
    crawl = make_crawl(options=CrawlOptions(obey_noindex=obey).to_plain())
    said = ["noindex", "noindex nofollow", "nofollow", "noindexed", "nofollow max-snippet:noindex", ""]
    for number, directives in enumerate(said):
        make_page(crawl, f"http://site.test/{number}", status=Page.CLOSED, outcome="2xx", directives=directives)
    left_out = 2 if obey else 0
    assert [row["directives"] for row in rows(crawl)] == said[left_out:]
    assert crawl.pages.count() == len(said)


@pytest.mark.parametrize("pages", [3, 4, 5])
def test_parents_and_facts_are_found_with_one_query_each_a_chunk_and_no_page_is_lost_at_its_edge(
    pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "CHUNK", 2)
    crawl = make_crawl()
    parent = make_page(crawl, "http://site.test/")
    for number in range(1, pages):
        parent = make_page(crawl, f"http://site.test/{number}", parent_id=parent.id)
    with CaptureQueriesContext(connection) as queries:
        found = [(row["url"], row["parent"]) for row in rows(crawl)]
    urls = ["http://site.test/", *(f"http://site.test/{number}" for number in range(1, pages))]
    assert found == list(zip(urls, [None, *urls[:-1]], strict=True))
    assert len(queries) == 3 + 2 * ((pages + 1) // 2)  # the columns of hooks, and where its rows are


def test_links_to_other_sites_that_were_only_recorded_are_no_pages_and_exported_in_their_place() -> None:
    crawl = with_links_to_other_sites()
    assert [row["url"] for row in rows(crawl)] == ["http://site.test/", "http://checked.test/"]
    assert [(row["url"], row["outcome"], row["parent"]) for row in rows(crawl, externals=True)] == [
        ("http://recorded.test/", "external", "http://site.test/"),
        ("http://checked.test/", "4xx", "http://site.test/"),
    ]


@sqlite_plans
def test_pages_are_read_in_their_order_without_being_sorted() -> None:
    crawl = make_crawl()
    for number in range(3):
        make_page(crawl, f"http://site.test/{number}")
    plan = selected(crawl).values("id", "url").explain()
    assert "TEMP B-TREE" not in plan
    assert "INTEGER PRIMARY KEY" in plan


def test_a_small_crawl_between_many_pages_of_others_is_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.exports.rows.MAX_ID_SPREAD", 1)
    crawl, other = make_crawl(), make_crawl()
    for number, owner in enumerate([crawl, other, other, other, crawl]):
        make_page(owner, f"http://site.test/{number}")
    assert [row["url"] for row in rows(crawl)] == ["http://site.test/0", "http://site.test/4"]


def test_chosen_pages_are_those_alone_in_the_order_they_were_chosen_in() -> None:
    crawl = with_links_to_other_sites()
    among = Page.objects.exclude(url="http://site.test/").order_by("-url")
    assert [row["url"] for row in rows(crawl, among=among)] == ["http://recorded.test/", "http://checked.test/"]


def test_chosen_pages_of_another_crawl_are_not_told() -> None:
    with_links_to_other_sites()
    assert list(rows(make_crawl(), among=Page.objects.all())) == []


def test_extracted_fields_are_columns_behind_the_others_and_never_hide_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.storage.fields.names_of", lambda crawl: ["price", "title"])
    crawl = make_crawl()
    page = make_page(crawl, "http://site.test/", title="A page")
    PageFacts.objects.create(page_id=page.id, crawl=crawl, fields={"price": 3.5, "title": ["a", "b"]})
    [row] = rows(crawl)
    assert list(row)[-3:] == ["price", "field_title", "field_notes"]
    assert (row["price"], row["field_title"], row["title"]) == (3.5, ["a", "b"], "A page")


def test_behind_the_fields_it_is_said_why_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.storage.fields.names_of", lambda crawl: ["price", "field_notes"])
    crawl = make_crawl()
    for path, notes in (("a", {"price": "it is no number"}), ("b", {})):
        page = make_page(crawl, f"http://site.test/{path}")
        PageFacts.objects.create(page_id=page.id, crawl=crawl, fields={"field_notes": "its own"}, notes=notes)
    make_page(crawl, "http://site.test/open")
    told = [(row["field_notes"], row["field_field_notes"]) for row in rows(crawl)]
    assert told == [({"price": "it is no number"}, "its own"), (None, "its own"), (None, None)]


def test_a_crawl_without_fields_has_nothing_to_say_of_them() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/")
    assert [list(row) == [column.name for column in columns_of(crawl)] == list(KEYS) for row in rows(crawl)] == [True]


def with_links_to_other_sites() -> Crawl:
    crawl = make_crawl()
    start = make_page(crawl, "http://site.test/", status=Page.CLOSED, outcome="2xx", http_status=200)
    facts = {"kind": "external", "status": Page.CLOSED, "parent_id": start.id}
    make_page(crawl, "http://recorded.test/", outcome="external", **facts)
    make_page(crawl, "http://checked.test/", outcome="4xx", http_status=404, **facts)
    return crawl
