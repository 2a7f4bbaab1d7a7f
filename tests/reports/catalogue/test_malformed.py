"""Malformed links are told with the page they stand on, the way they are written, and what is wrong with them."""

import pytest

from crawler.core.html.page_metadata import MAX_MALFORMED
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageTask
from crawler.fetcher.page_result import result_of
from crawler.http.fetcher import FetchResult
from crawler.models import Crawl, Page
from crawler.reports.catalogue.entries import BY_SLUG
from crawler.storage import sql
from tests.reports.catalogue.factories import SITE, behind, crawl_with, make, rows, told

pytestmark = pytest.mark.django_db
WRONG = "<a href='htp:/x' rel=nofollow>Manual</a><a href='http://[::1'>Local</a><a href=/fine>Fine</a>"


@pytest.fixture
def crawl() -> Crawl:
    crawl = crawl_with()
    read(make(crawl, "/"), WRONG)
    read(make(crawl, "/fine"), "<a href='mailto:a@b.c'>Mail</a><a href=/>Home</a>")
    return crawl


def read(page: Page, html: str) -> None:
    """Keep what such a page says, as if it had been fetched."""
    fetched = FetchResult(outcome=Outcome.SUCCESS, http_status=200, body=html.encode())
    sql.store_facts(page.crawl_id, [result_of(PageTask(page.pk, page.url, 1), fetched, 0)])


def test_each_page_that_has_any_is_told_with_the_first(crawl: Crawl) -> None:
    assert told(crawl, "malformed-links") == [(f"{SITE}/", 2, "htp:/x", "unknown scheme htp")]
    assert BY_SLUG["malformed-links"].count(crawl) == 1


def test_behind_it_stand_all_of_them_with_their_words(crawl: Crawl) -> None:
    assert behind(crawl, "malformed-links") == [
        ("htp:/x", "Manual", "nofollow", "unknown scheme htp"),
        ("http://[::1", "Local", "", "not a valid URL: invalid host"),
    ]


def test_a_file_has_a_row_for_each(crawl: Crawl) -> None:
    assert [row[:3] for row in rows(crawl, "malformed-links")] == [
        (f"{SITE}/", "htp:/x", "Manual"),
        (f"{SITE}/", "http://[::1", "Local"),
    ]


def test_of_very_many_on_a_page_the_first_are_kept_and_the_others_counted(crawl: Crawl) -> None:
    read(make(crawl, "/many"), "".join(f"<a href=htp:/{number}>" for number in range(MAX_MALFORMED + 5)))
    assert told(crawl, "malformed-links")[1][1] == MAX_MALFORMED + 5
    assert rows(crawl, "malformed-links")[-1] == (f"{SITE}/many", None, None, None, "and 5 more")
    assert len(rows(crawl, "malformed-links")) == 2 + MAX_MALFORMED + 1
