"""Pages with console errors and failed requests are told with what lies behind the numbers."""

import pytest

from crawler.capabilities.browser.page_load import BLOCKED, FAILED, PageLoad, Resource
from crawler.models import Crawl
from crawler.reports.catalogue.entries import BY_SLUG, numbers_of
from tests.reports.catalogue.factories import SITE, behind, crawl_with, rows, told
from tests.reports.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    crawl = crawl_with(render="auto")
    gone = Resource(f"{SITE}/gone.js", "script", 404, problem=FAILED)
    reset = Resource(f"{SITE}/data", "fetch", error="net::ERR_CONNECTION_RESET", problem=FAILED)
    image = Resource(f"{SITE}/a.png", "image", error="blocked: image", problem=BLOCKED)
    read_page(crawl, f"{SITE}/one", load=PageLoad(console_errors=1, console=("bad",), blocked_requests=1))
    bad = PageLoad(console_errors=70, console=("worse",), failed_requests=2, requests=(gone, reset, image))
    read_page(crawl, f"{SITE}/two", load=bad)
    read_page(crawl, f"{SITE}/fine", load=PageLoad(resources=3))
    read_page(crawl, f"{SITE}/not-rendered")
    return crawl


def test_the_page_with_the_most_comes_first(crawl: Crawl) -> None:
    assert told(crawl, "console-errors") == [(f"{SITE}/two", 70), (f"{SITE}/one", 1)]
    assert told(crawl, "failed-requests") == [(f"{SITE}/two", 2)]
    numbers = numbers_of(crawl)
    assert (numbers["console-errors"], numbers["failed-requests"]) == (2, 1)


def test_behind_a_line_are_the_messages_and_the_requests(crawl: Crawl) -> None:
    assert behind(crawl, "console-errors") == [("worse",)]
    requests = [(f"{SITE}/gone.js", "script", 404, ""), (f"{SITE}/data", "fetch", None, "net::ERR_CONNECTION_RESET")]
    assert behind(crawl, "failed-requests") == requests
    assert rows(crawl, "failed-requests") == [(f"{SITE}/two", *request) for request in requests]
    assert rows(crawl, "console-errors") == [(f"{SITE}/one", "bad"), (f"{SITE}/two", "worse")]


def test_a_crawl_that_rendered_nothing_says_so() -> None:
    assert "--render auto" in BY_SLUG["console-errors"].lacking(crawl_with())
    assert "console-errors" not in numbers_of(crawl_with())
