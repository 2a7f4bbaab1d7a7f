"""Few pages are found among a million without reading the million."""

import re
from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.placement import Placement
from crawler.core.protocol.counters import Watermark
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page
from crawler.storage import additions, queries, writer
from tests.databases import sqlite_plans

NOW = 1_800_000_000.0
Question = Callable[[UUID, list[int]], object]

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    made = Crawl.objects.create(start_urls=["https://example.com/"], options={})
    writer.open_start_pages(made, [f"https://example.com/{number}" for number in range(100)], NOW)
    return made


def ids_of(crawl: Crawl) -> list[int]:
    return list(Page.objects.filter(crawl=crawl).values_list("id", flat=True))


def close(crawl: UUID, ids: list[int]) -> object:
    return writer.apply(crawl, [PageResult(id=page, attempt=1, outcome=Outcome.SUCCESS) for page in ids], [], [], NOW)


def close_without_request(crawl: UUID, ids: list[int]) -> object:
    return additions.close_all(crawl, ids, Outcome.EXCLUDED, "", NOW)


def ask_again(crawl: UUID, ids: list[int]) -> object:
    close(crawl, ids)
    return additions.open_again(crawl, ids, Placement(priority=3), NOW)


@sqlite_plans
@pytest.mark.parametrize(
    "ask",
    [
        *(queries.places, queries.open_pages, queries.still_open, queries.public_only),
        *(close, close_without_request, ask_again),
    ],
)
def test_pages_named_by_their_ids_are_looked_up_by_them(crawl: Crawl, ask: Question) -> None:
    ids = ids_of(crawl)
    with CaptureQueriesContext(connection) as asked:
        ask(crawl.id, ids)
    about_pages = [query["sql"] for query in asked if re.search('(FROM|UPDATE) "crawler_page"', query["sql"])]
    assert about_pages
    for sql in about_pages:
        assert "PRIMARY KEY" in plan_of(sql)


@pytest.mark.parametrize("ask", [queries.places, queries.open_pages, queries.still_open])
def test_pages_of_another_crawl_are_not_found(crawl: Crawl, ask: Question) -> None:
    other = Crawl.objects.create(start_urls=["https://example.com/"], options={})
    assert len(list(ask(crawl.id, ids_of(crawl)))) == 100  # type: ignore[call-overload]
    assert not ask(other.id, ids_of(crawl))


def plan_of(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return " ".join(str(row) for row in cursor.fetchall())


@sqlite_plans
@pytest.mark.parametrize(
    "ask",
    [
        queries.has_open,
        queries.open_with_attempts,
        lambda crawl: queries.shallowest_open(crawl, NOW),
        lambda crawl: queries.next_open(crawl, 5, 0, 10, None),
        lambda crawl: writer.close_rest(crawl, Outcome.CANCELLED, "", NOW),
    ],
)
def test_open_pages_are_looked_up_among_the_open_alone(crawl: Crawl, ask: Callable[[UUID], object]) -> None:
    """Not by the index of all rows in their order, although that would do."""
    with CaptureQueriesContext(connection) as asked:
        ask(crawl.id)
    plans = [plan_of(query["sql"]) for query in asked if "crawler_page" in query["sql"]]
    assert plans
    assert all("page_open" in plan and "page_in_order" not in plan for plan in plans)


@sqlite_plans
def test_pages_that_were_put_off_are_counted_among_themselves(crawl: Crawl) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert queries.count_postponed(crawl.id, NOW) == 0
    assert all("page_put_off" in plan_of(query["sql"]) for query in asked)


@sqlite_plans
def test_how_far_a_crawl_has_come_is_read_from_an_index(crawl: Crawl) -> None:
    Crawl.objects.filter(id=crawl.id).update(requests=7)
    with CaptureQueriesContext(connection) as asked:
        assert queries.watermark(crawl.id) == Watermark(max(ids_of(crawl)), 7)
    plan = plan_of(asked[0]["sql"])
    assert "COVERING INDEX page_in_order" in plan
    assert "TEMP B-TREE" not in plan
    other = Crawl.objects.create(start_urls=["https://example.com/"], options={})
    assert queries.watermark(other.id) == Watermark(0, 0)
