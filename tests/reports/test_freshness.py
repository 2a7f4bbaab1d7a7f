"""What a crawl owes to earlier ones, in words."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.core.protocol.messages import EXTERNAL
from crawler.models import Crawl
from crawler.reports import comparison
from crawler.reports.comparison import compared, from_memory
from tests.factories import a_crawl, a_finished_crawl, a_page

pytestmark = pytest.mark.django_db

SITE = "https://example.com/"


def a_crawl_of(*names: str, previous: Crawl | None = None, **fields: Any) -> Crawl:
    crawl = a_finished_crawl(previous=previous, **fields)
    for name in names:
        a_page(crawl, f"{SITE}{name}")
    return crawl


def test_a_run_is_compared_with_the_one_before_by_its_urls() -> None:
    first = a_crawl_of("a", "b", "c")
    second = a_crawl_of("b", "c", "d", "e", previous=first, outcomes={"unchanged": 2, "2xx": 2})
    a_page(second, "https://elsewhere.example/", kind=EXTERNAL)
    assert str(compared(second)) == "2 new, 1 gone, 2 confirmed unchanged"


def test_a_run_that_asked_for_everything_confirmed_nothing() -> None:
    assert str(compared(a_crawl_of("b", previous=a_crawl_of("a")))) == "1 new, 1 gone"


@pytest.mark.parametrize("which", ["first", "second"])
def test_nothing_is_compared_while_either_goes_on(which: str) -> None:
    first = a_crawl_of("a")
    second = a_crawl_of("a", previous=first)
    (first if which == "first" else second).state = State.RUNNING
    assert compared(second) is None


def test_nothing_is_compared_where_there_is_no_run_before_or_too_much_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = a_crawl_of("a")
    assert compared(first) is None
    monkeypatch.setattr(comparison, "COMPARED", 2)
    assert compared(a_crawl_of("a", previous=first)) is None


def test_pages_from_memory_are_counted() -> None:
    options = CrawlOptions(revisit=True, response_ttl=60.0)
    crawl = a_crawl(options=options, outcomes={"unchanged": 1, "2xx": 2})
    for name in ("a", "b"):
        a_page(crawl, f"{SITE}{name}", reused=True)
    assert from_memory(crawl) == (
        "1 page unchanged since last time; 2 pages not requested, because a response was cached."
    )


def test_a_crawl_that_found_nothing_in_memory_says_nothing() -> None:
    assert from_memory(a_crawl(options=CrawlOptions(revisit=True))) == from_memory(a_crawl()) == ""
