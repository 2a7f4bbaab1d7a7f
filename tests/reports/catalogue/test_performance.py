"""Pages that are slow, large, deep, or load something over http."""

import pytest

from crawler.models import Crawl
from crawler.reports.catalogue.performance import DEEP_LINKS, LARGE_BYTES, SLOW_FIRST_BYTE_MS, SLOW_MS
from tests.reports.catalogue.factories import SITE, crawl_with, make, paths, rows, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    return crawl_with()


def test_the_slowest_first_byte_comes_first(crawl: Crawl) -> None:
    for path, wait in {"/a": SLOW_FIRST_BYTE_MS, "/b": SLOW_FIRST_BYTE_MS - 1, "/c": 5000}.items():
        make(crawl, path, facts={"first_byte_ms": wait})
    make(crawl, "/remembered", reused=True, facts={"first_byte_ms": 9000})
    assert paths(told(crawl, "slow-first-byte")) == ["/c", "/a"]


def test_errors_can_be_slow_too(crawl: Crawl) -> None:
    make(crawl, "/a", elapsed_ms=SLOW_MS)
    make(crawl, "/b", elapsed_ms=SLOW_MS - 1)
    make(crawl, "/c", 500, elapsed_ms=SLOW_MS + 1)
    assert paths(told(crawl, "slow-pages")) == ["/c", "/a"]


def test_large_and_deep_are_html_pages_beyond_a_limit(crawl: Crawl) -> None:
    make(crawl, "/a", bytes=LARGE_BYTES, depth=DEEP_LINKS)
    make(crawl, "/b", bytes=LARGE_BYTES - 1, depth=DEEP_LINKS + 1)
    make(crawl, "/c", content_type="application/pdf", bytes=10 * LARGE_BYTES, depth=9)
    assert paths(told(crawl, "large-pages")) == ["/a"]
    assert paths(told(crawl, "deep-pages")) == ["/b"]


def test_what_is_loaded_over_http_is_told_by_name(crawl: Crawl) -> None:
    make(crawl, "/fine")
    make(crawl, "/mixed", facts={"words": None, "insecure": ["http://cdn.test/a.png", "http://cdn.test/b.js"]})
    assert told(crawl, "mixed-content") == [(f"{SITE}/mixed", 2, "http://cdn.test/a.png\nhttp://cdn.test/b.js")]
    assert rows(crawl, "mixed-content") == [
        (f"{SITE}/mixed", "http://cdn.test/a.png"),
        (f"{SITE}/mixed", "http://cdn.test/b.js"),
    ]
