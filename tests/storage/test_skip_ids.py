"""Rows get only higher ids than those that a restored database has lost, whatever other crawls insert meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from django.db import connection

from crawler.models import Crawl, Page
from crawler.storage import sql
from tests.postgresql import PostgresStack

_keys = count()


def insert(crawl: Crawl) -> int:
    """A page row; returns its id."""
    return Page.objects.create(crawl=crawl, key=next(_keys).to_bytes(16), url="http://site.test/").id


def nothing() -> None:
    pass


def skip_some() -> None:
    crawl = Crawl.objects.create(start_urls=["http://site.test/"], options={})
    first = insert(crawl)
    sql.skip_ids(first + 250_000, nothing)
    assert insert(crawl) == first + 250_001
    sql.skip_ids(first + 9, nothing)  # they were skipped already
    assert insert(crawl) == first + 250_002


@pytest.mark.django_db
def test_the_next_row_gets_a_higher_id() -> None:
    skip_some()


@pytest.mark.long
def test_the_same_on_postgresql(postgres_stack: PostgresStack) -> None:
    postgres_stack.within(skip_some)


@pytest.mark.long
def test_rows_that_are_inserted_meanwhile_get_ids_of_their_own(postgres_stack: PostgresStack) -> None:
    """PostgreSQL's sequences take no part in transactions."""

    def skip_often() -> None:
        crawl = Crawl.objects.create(start_urls=["http://site.test/"], options={})
        for _ in range(100):
            sql.skip_ids(insert(crawl) + 100, nothing)
        connection.close()

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(postgres_stack.within, skip_often) for _ in range(4)]:
            done.result()
    (found,) = postgres_stack.rows("SELECT count(*) AS rows, count(DISTINCT crawl_id) AS crawls FROM crawler_page")
    assert found == {"rows": 400, "crawls": 4}
