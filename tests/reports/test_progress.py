"""The page of a crawl is asked for each second, so what it shows is found without reading all pages."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page
from crawler.reports.progress import last_pages, start_count, troubled_pages, troubled_start_pages
from crawler.storage import writer
from tests.databases import sqlite_plans

NOW = 1_800_000_000.0
URLS = [f"https://example.com/{number}" for number in range(30)]

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    """Thirty start pages of which the first twenty answered, every fifth with 404."""
    made = Crawl.objects.create(start_urls=URLS, options={})
    writer.open_start_pages(made, URLS, NOW)
    ids = list(Page.objects.order_by("id").values_list("id", flat=True))
    results = [answer(page, 404 if number % 5 == 0 else 200) for number, page in enumerate(ids[:20])]
    writer.apply(made.id, results, [], [], NOW)
    made.refresh_from_db()
    return made


def answer(page: int, status: int) -> PageResult:
    outcome = Outcome.SUCCESS if status == 200 else Outcome.CLIENT_ERROR
    return PageResult(id=page, attempt=1, outcome=outcome, http_status=status, fetched_at=NOW)


def test_the_pages_closed_last_come_first(crawl: Crawl) -> None:
    assert [page.url for page in last_pages(crawl)] == list(reversed(URLS[8:20]))


def test_the_newest_errors_come_first(crawl: Crawl) -> None:
    assert [page.url for page in troubled_pages(crawl)] == [URLS[15], URLS[10], URLS[5], URLS[0]]


def test_a_page_that_was_opened_again_is_in_neither_list(crawl: Crawl) -> None:
    Page.objects.filter(url__in=URLS[10:]).update(status=Page.OPEN, outcome="", fetched_at=None)
    assert URLS[15] not in [page.url for page in [*last_pages(crawl), *troubled_pages(crawl)]]


def test_a_crawl_from_before_they_were_kept_still_shows_both(crawl: Crawl) -> None:
    crawl.recent = {}
    assert len(last_pages(crawl)) == 12
    assert [page.url for page in troubled_pages(crawl)] == [URLS[15], URLS[10], URLS[5], URLS[0]]


def test_start_pages_that_gave_nothing_are_known(crawl: Crawl) -> None:
    assert [page.url for page in troubled_start_pages(crawl)] == [URLS[0], URLS[5], URLS[10], URLS[15]]
    assert start_count(crawl) == 30


@sqlite_plans
@pytest.mark.parametrize("ask", [last_pages, troubled_pages, troubled_start_pages, start_count])
def test_they_are_found_by_an_index_that_names_each(crawl: Crawl, ask: Callable[[Crawl], object]) -> None:
    with CaptureQueriesContext(connection) as asked:
        ask(crawl)
    assert len(asked) > 0
    for query in asked:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plan = " ".join(str(row) for row in cursor.fetchall())
        assert "PRIMARY KEY" in plan or "crawl_id=? AND key=?" in plan
