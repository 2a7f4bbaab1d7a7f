"""Two crawls are compared page by page."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL
from crawler.models import Crawl
from crawler.reports.comparison import (
    CHANGES,
    CHANGES_BY_SLUG,
    ChangedPages,
    changes_between,
    comparable,
    other_options,
    rows,
)
from tests.databases import sqlite_plans
from tests.factories import a_finished_crawl
from tests.reports.catalogue.factories import SITE, crawl_with, make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    cache.clear()


@pytest.fixture
def before() -> Crawl:
    return crawl_with()


@pytest.fixture
def now() -> Crawl:
    return crawl_with()


def found(now: Crawl, before: Crawl, slug: str) -> list[tuple[object, ...]]:
    compared = ChangedPages(now, before, CHANGES_BY_SLUG[slug])
    lines = list(compared)
    assert compared.count() == len(lines)
    assert list(compared[0:100]) == lines
    return [line.cells for line in lines]


def test_pages_of_one_crawl_alone_are_new_or_gone(now: Crawl, before: Crawl) -> None:
    make(before, "/both")
    make(before, "/gone", 404)
    make(now, "/both")
    make(now, "/new")
    make(now, "https://other.test/", kind=EXTERNAL)
    assert found(now, before, "new") == [(f"{SITE}/new", "200", "Title of /new")]
    assert found(now, before, "gone") == [(f"{SITE}/gone", "404", "Title of /gone")]
    assert found(before, now, "gone") == [(f"{SITE}/new", "200", "Title of /new")]


@pytest.mark.parametrize(
    ("then", "since", "cells"),
    [
        (200, 200, None),
        (200, 404, ("200", "404")),
        (404, 410, ("404", "410")),
        (Outcome.TIMEOUT, 200, ("timed out", "200")),
        (200, Outcome.ROBOTS, ("200", "forbidden by robots.txt")),
        (200, Outcome.UNCHANGED, None),  # confirmed
        (200, Outcome.LIMIT, None),  # not asked for: it may be as it was
        (Outcome.CANCELLED, 200, None),
    ],
)
def test_a_page_answers_otherwise_or_not(
    now: Crawl, before: Crawl, then: int | Outcome, since: int | Outcome, cells: tuple[str, str] | None
) -> None:
    make(before, "/", then)
    make(now, "/", since)
    assert found(now, before, "status") == ([(f"{SITE}/", *cells)] if cells else [])


def test_titles_and_content_are_compared_where_both_answered_well(now: Crawl, before: Crawl) -> None:
    for crawl, title, digest in ((before, "Old", b"1"), (now, "New", b"2")):
        make(crawl, "/", title=title, facts={"digest": digest, "words": len(digest)})
        make(crawl, "/same")
    make(before, "/error", 404, title="Not found")
    make(now, "/error", title="Here again")
    make(before, "/empty", facts={"digest": b""})
    make(now, "/empty")
    assert found(now, before, "title") == [(f"{SITE}/", "Old", "New")]
    assert found(now, before, "content") == [(f"{SITE}/", "New", 1, 1)]


def test_changes_are_counted_once_while_nothing_moves(before: Crawl) -> None:
    now = a_finished_crawl()
    make(now, "/new")
    numbers = changes_between(now, before)
    assert numbers == {"new": 1, "gone": 0, "status": 0, "title": 0, "content": 0}
    with CaptureQueriesContext(connection) as asked:
        assert changes_between(now, before) == numbers
    assert len(asked) == 0


def test_a_crawl_is_compared_with_the_run_before_and_with_others_of_its_start_url() -> None:
    older, before, elsewhere = crawl_with(), crawl_with(), a_finished_crawl(start_urls=["https://other.test/"])
    now = crawl_with()
    Crawl.objects.filter(id=now.id).update(previous=older)
    now.refresh_from_db()
    assert comparable(now, Crawl.objects.all()) == [older, before]
    assert elsewhere not in comparable(now, Crawl.objects.all())
    assert comparable(now, Crawl.objects.none()) == []


def test_options_that_differ_are_named() -> None:
    assert other_options(crawl_with(max_pages=5), crawl_with(notify_emails=("a@b.test",))) == ["max_pages"]


@sqlite_plans
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.slug)
def test_the_twin_of_a_page_is_found_by_the_unique_key(now: Crawl, before: Crawl, change: object) -> None:
    with CaptureQueriesContext(connection) as asked:
        list(rows(now, before, change))  # type: ignore[arg-type]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {asked[0]['sql']}")
        plan = " ".join(str(row) for row in cursor.fetchall())
    assert "crawl_id=? AND key=?" in plan
