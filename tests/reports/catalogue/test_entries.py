"""Every report can be asked for of every crawl, is told in words, and is counted as often as it has to be."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.reports.catalogue.entries import BY_SLUG, REPORTS, numbers_of
from crawler.reports.catalogue.report import Report
from tests.factories import a_finished_crawl
from tests.reports.catalogue.factories import crawl_with, make

pytestmark = pytest.mark.django_db
EVERYTHING: dict[str, Any] = {"externals": "check", "sitemaps": True, "near_duplicates": True, "render": "auto"}


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    cache.clear()


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.slug)
def test_an_empty_crawl_has_no_lines(report: Report) -> None:
    crawl = crawl_with(**EVERYTHING)
    assert report.lacking(crawl) == ""
    assert list(report.lines(crawl)) == list(report.rows(crawl)) == []
    assert list(report.lines(crawl)[0:100]) == []
    assert report.count(crawl) == report.lines(crawl).count() == 0
    for key in ("", "1", "x", "9" * 30):
        part = report.part(crawl, key)
        assert part is None or part.lines.count() == 0


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.slug)
def test_a_report_says_what_it_means_and_what_to_do(report: Report) -> None:
    assert all(text.endswith(".") for text in (report.about, report.remedy, report.praise))
    assert len({column.name for column in report.columns}) == len(report.columns)


def test_the_names_are_all_different() -> None:
    assert len(BY_SLUG) == len(REPORTS)


def test_numbers_are_those_of_the_reports_themselves() -> None:
    crawl = crawl_with(**EVERYTHING)
    make(crawl, "/", title="", depth=9)
    make(crawl, "/gone", 404)
    numbers = numbers_of(crawl)
    assert numbers == {report.slug: report.count(crawl) for report in REPORTS}
    assert (numbers["missing-titles"], numbers["broken-links"], numbers["deep-pages"]) == (1, 1, 1)


def test_what_a_crawl_cannot_tell_has_no_number() -> None:
    assert {"near-duplicates", "external-broken-links", "orphans"}.isdisjoint(numbers_of(crawl_with()))


def test_a_crawl_that_is_over_is_counted_once_until_it_is_opened_again() -> None:
    crawl = a_finished_crawl(options=CrawlOptions(**EVERYTHING))
    numbers_of(crawl)
    with CaptureQueriesContext(connection) as asked:
        numbers_of(crawl)
        assert len(asked) == 0
        crawl.round = 2
        numbers_of(crawl)
        assert len(asked) > 0


def test_when_the_time_is_up_the_rest_is_counted_the_next_time() -> None:
    crawl = a_finished_crawl(options=CrawlOptions(**EVERYTHING), state=State.FINISHED)
    clock = iter(range(0, 10_000, 10))
    first = numbers_of(crawl, budget=15.0, now=lambda: next(clock))
    assert 0 < len(first) < len(REPORTS)
    assert set(numbers_of(crawl)) == set(BY_SLUG)
