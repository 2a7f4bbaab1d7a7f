"""What is told of one page: why a browser rendered it, and how it loaded."""

import pytest

from crawler.capabilities.browser.options import ALWAYS
from crawler.capabilities.browser.page_load import PageLoad
from crawler.capabilities.browser.page_parts import PAGE_PARTS
from crawler.capabilities.browser.shells import RENDERED_BECAUSE, Shell
from crawler.models import Crawl
from crawler.reports.page_detail import page_report
from tests.factories import make_crawl
from tests.reports.pages import read_page

pytestmark = pytest.mark.django_db
SITE = "http://site.test"
(PART,) = PAGE_PARTS


@pytest.fixture
def crawl() -> Crawl:
    return make_crawl()


@pytest.mark.parametrize(
    ("reason", "words"),
    [("root", "the element that its scripts fill is empty"), ("always", "the crawl renders all pages"), ("new", "new")],
)
def test_why_a_browser_rendered_it_is_told_in_words(crawl: Crawl, reason: str, words: str) -> None:
    page = read_page(crawl, f"{SITE}/app", lane_reason=reason, load=PageLoad())
    assert ("Rendered because", words) in PART.lines(page_report(crawl, page))


def test_there_are_words_for_every_shell() -> None:
    assert set(RENDERED_BECAUSE) == {ALWAYS, *Shell}


def test_nothing_is_told_of_a_page_that_no_browser_rendered(crawl: Crawl) -> None:
    page = read_page(crawl, f"{SITE}/text")
    report = page_report(crawl, page)
    assert (PART.lines(report), PART.absent(crawl, page, report)) == ([], "")
