"""The table of pages is searched, filtered, sorted and leafed through in the database."""

from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.page_field import Sort
from crawler.core.pages.page_query import PagesQuery, read
from crawler.models import Crawl, Page
from crawler.reports import page_table
from crawler.reports.page_table import chosen, table_page
from tests.factories import make_crawl, make_page
from tests.storage.test_queries import plan_of

pytestmark = pytest.mark.django_db
SITE = "http://site.test"


def asked(query_string: str) -> PagesQuery:
    return read(parse_qs(query_string))


@pytest.fixture
def crawl() -> Crawl:
    """Seven rows of every kind; another crawl's row is never among them."""
    made = make_crawl(options=CrawlOptions(sitemaps=True).to_plain(), discovered=6)
    make_page(make_crawl(), f"{SITE}/elsewhere")
    html = {"content_type": "text/html", "http_status": 200, "outcome": "2xx", "status": 1}
    make_page(made, f"{SITE}/", title="Zebra", depth=0, bytes=300, elapsed_ms=9, **html)
    make_page(made, f"{SITE}/Annex", title="100% cotton", depth=1, bytes=100, elapsed_ms=7, **html)
    make_page(made, f"{SITE}/b", outcome="4xx", http_status=404, status=1, depth=1, bytes=50, elapsed_ms=8)
    make_page(made, f"{SITE}/c", outcome="timeout", status=1, given_up=True, depth=2)
    make_page(made, f"{SITE}/d", depth=3)
    make_page(made, f"{SITE}/lonely", title="Älteste", in_sitemap=True, linked=False, depth=0, bytes=300, **html)
    make_page(made, "http://other.test/", kind="external", outcome="external", status=1, depth=1)
    return made


def paths(crawl: Crawl, query_string: str) -> list[str]:
    return [page.url.removeprefix(SITE) for page in table_page(crawl, asked(query_string)).pages]


@pytest.mark.parametrize(
    ("query_string", "found"),
    [
        ("", ["/", "/Annex", "/b", "/c", "/d", "/lonely"]),  # what was only recorded is no page of the crawl
        ("q=ANNEX", ["/Annex"]),
        ("q=zebra", ["/"]),
        ("q=100%25", ["/Annex"]),  # a % is a %
        ("q=_", []),  # and a _ is a _
        ("q=%C3%84lteste", ["/lonely"]),
        ("outcome=open", ["/d"]),
        ("outcome=failed", ["/c"]),
        ("outcome=fetched", ["/", "/Annex", "/b", "/lonely"]),
        ("status=404", ["/b"]),
        ("status=2xx", ["/", "/Annex", "/lonely"]),
        ("depth=1", ["/Annex", "/b"]),
        ("depth=2%2B", ["/c", "/d"]),
        ("type=text/", ["/", "/Annex", "/lonely"]),
        ("show=dead-letters", ["/c"]),
        ("show=orphans", ["/lonely"]),
        ("show=in-sitemap", ["/lonely"]),
        ("show=sitemaps", []),
        ("show=externals", ["http://other.test/"]),
        ("q=zebra&status=404", []),  # all that is said must be true
    ],
)
def test_rows_are_those_asked_for(crawl: Crawl, query_string: str, found: list[str]) -> None:
    assert paths(crawl, query_string) == found


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("-found", ["/lonely", "/d", "/c", "/b", "/Annex", "/"]),
        ("url", ["/", "/Annex", "/b", "/c", "/d", "/lonely"]),  # as bytes: capitals first, whatever the database
        ("status", ["/c", "/d", "/", "/Annex", "/lonely", "/b"]),  # those without come first, on any database
        ("-size", ["/lonely", "/", "/Annex", "/b", "/d", "/c"]),  # what is the same is turned as well
        ("time", ["/c", "/d", "/lonely", "/Annex", "/b", "/"]),
        ("-title", ["/lonely", "/", "/Annex", "/d", "/c", "/b"]),
        ("-depth", ["/d", "/c", "/b", "/Annex", "/lonely", "/"]),
    ],
)
def test_rows_come_in_the_order_asked_for(crawl: Crawl, order: str, found: list[str]) -> None:
    assert paths(crawl, f"sort={order}") == found
    assert [page.url.removeprefix(SITE) for page in chosen(crawl, asked(f"sort={order}"))] == found


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", Sort)
def test_leafing_forth_and_back_shows_each_row_once(
    crawl: Crawl, sort: Sort, descending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_table, "ROWS_PER_PAGE", 2)
    query = PagesQuery(sort=sort, descending=descending)
    all_rows = [page.pk for page in chosen(crawl, query)]
    leaves = [table_page(crawl, query)]
    while not leaves[-1].is_last:
        leaves.append(table_page(crawl, replace(query, after=leaves[-1].pages[-1].pk)))
    assert [page.pk for leaf in leaves for page in leaf.pages] == all_rows
    back = table_page(crawl, replace(query, before=leaves[-1].pages[0].pk))
    assert [page.pk for page in back.pages] == all_rows[2:4]
    first = table_page(crawl, replace(query, before=back.pages[0].pk))
    assert [page.pk for page in first.pages] == all_rows[:2]
    assert (leaves[0].is_first, back.is_first, back.is_last) == (True, False, False)
    last = table_page(crawl, query.from_the_end())
    assert [page.pk for page in last.pages] == all_rows[-2:]
    assert (last.is_first, last.is_last, last.count) == (False, True, crawl.discovered)


def test_the_end_of_a_table_that_fits_on_one_leaf_is_its_start(crawl: Crawl) -> None:
    leaf = table_page(crawl, PagesQuery().from_the_end())
    assert (len(leaf.pages), leaf.is_first, leaf.is_last) == (6, True, True)


def test_going_back_past_the_first_row_ends_on_a_whole_first_leaf(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_table, "ROWS_PER_PAGE", 3)
    second = Page.objects.get(crawl=crawl, url=f"{SITE}/Annex")
    leaf = table_page(crawl, PagesQuery(before=second.pk))
    assert (leaf.pages[0].url, len(leaf.pages), leaf.is_first) == (f"{SITE}/", 3, True)


def test_a_place_that_is_none_of_this_crawl_is_refused(crawl: Crawl) -> None:
    other = Page.objects.get(url=f"{SITE}/elsewhere")
    with pytest.raises(BadInput, match="no such page"):
        table_page(crawl, PagesQuery(after=other.pk))


def test_all_pages_are_counted_by_the_crawl_and_others_as_far_as_it_is_cheap(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_table, "ROWS_PER_PAGE", 1)
    monkeypatch.setattr(page_table, "MAX_COUNTED", 3)
    everything, some, few = (table_page(crawl, asked(text)) for text in ("", "q=site", "status=2xx"))
    assert (everything.count, everything.is_counted) == (crawl.discovered, True)
    assert (some.count, some.is_counted) == (3, False)
    assert (few.count, few.is_counted) == (3, True)


@pytest.mark.parametrize(
    ("query_string", "index"),
    [
        ("", "page_in_order (crawl_id=? AND id>?)"),
        ("sort=-found&after=1", "page_in_order (crawl_id=? AND id>? AND id<?)"),
        ("end=1", "page_in_order (crawl_id=? AND id>?)"),
        ("sort=title&q=zebra", "page_in_order (crawl_id=? AND id>?)"),
        ("show=dead-letters", "page_given_up"),
        ("show=orphans&sort=url", "page_orphan"),
    ],
)
def test_a_crawls_rows_are_read_side_by_side_and_no_others(crawl: Crawl, query_string: str, index: str) -> None:
    first = Page.objects.filter(crawl=crawl).earliest("id")
    query = asked(query_string.replace("after=1", f"after={first.pk}"))
    with CaptureQueriesContext(connection) as questions:
        table_page(crawl, query)
    sorted_ids = [question["sql"] for question in questions if "ORDER BY" in question["sql"]]
    assert sorted_ids
    for sql in sorted_ids:
        assert connection.vendor != "sqlite" or index in plan_of(sql)
