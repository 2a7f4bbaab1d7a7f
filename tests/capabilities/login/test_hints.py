"""A site behind a log-in is told from one that only has a log-in page."""

import pytest

from crawler.models import Crawl
from crawler.reports.hints import hints_of
from tests.reports.catalogue.factories import SITE, crawl_with, make, moved
from tests.reports.test_hints import ended, many, told

pytestmark = pytest.mark.django_db


def sent_to_login(crawl: Crawl, number: int) -> None:
    for at in range(number):
        moved(crawl, f"/part-{at}", f"/users/sign_in?next=%2Fpart-{at}")


def test_redirects_to_a_login_page_by_most_pages() -> None:
    crawl = crawl_with()
    make(crawl, "/", 200)
    sent_to_login(crawl, 12)
    assert told(crawl) == {"login": (12, 13, f"{SITE}/users/sign_in")}


def test_so_do_responses_with_401() -> None:
    crawl = crawl_with()
    many(crawl, 10, 401)
    assert told(crawl) == {"login": (10, 10, f"{SITE}/page-0")}


def test_a_start_page_that_leads_there_is_enough() -> None:
    crawl = crawl_with()
    moved(crawl, "/", "/login?next=/")
    make(crawl, "/login", 200, depth=0, hops=1)
    assert told(crawl) == {"login": (1, 2, f"{SITE}/login")}


@pytest.mark.parametrize("path", ["/blog-index", "/author/ann", "/lessons", "/authentic"])
def test_a_path_that_only_looks_like_it_is_none(path: str) -> None:
    crawl = crawl_with()
    moved(crawl, "/", path)
    assert told(crawl) == {}


def test_a_few_parts_behind_a_login_are_none() -> None:
    crawl = crawl_with()
    many(crawl, 30, 200)
    sent_to_login(crawl, 12)
    assert told(crawl) == {}


def test_a_crawl_that_logs_in_is_told_nothing() -> None:
    crawl = crawl_with(login_url=f"{SITE}/login")
    many(crawl, 10, 401)
    assert hints_of(ended(crawl)) == []
