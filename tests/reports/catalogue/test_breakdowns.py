"""How many pages there are of each answer, depth, type and host."""

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL, SITEMAP
from crawler.models import Crawl, Page
from crawler.reports.catalogue.entries import BY_SLUG
from tests.reports.catalogue.factories import behind, crawl_with, make, paths, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    crawl = crawl_with()
    make(crawl, "/", bytes=10, elapsed_ms=30, depth=0)
    make(crawl, "/a", bytes=20, elapsed_ms=10, depth=1)
    make(crawl, "/b", 404, content_type="", bytes=5, elapsed_ms=20, depth=1)
    make(crawl, "https://www.site.test/c", Outcome.ROBOTS, depth=2)
    make(crawl, "/sitemap.xml", kind=SITEMAP)
    make(crawl, "https://other.test/", kind=EXTERNAL)
    make(crawl, "/open", depth=2)
    Page.objects.filter(url__endswith="/open").update(status=0, outcome="", http_status=None)
    return crawl


def test_answers_come_in_the_order_of_their_numbers(crawl: Crawl) -> None:
    assert told(crawl, "statuses") == [
        ("200", "OK", 2),
        ("404", "client error", 1),
        ("open", "open", 1),
        ("forbidden by robots.txt", "forbidden by robots.txt", 1),
    ]
    assert paths(behind(crawl, "statuses", 0)) == ["/", "/a"]
    assert paths(behind(crawl, "statuses", 2)) == ["/open"]
    assert paths(behind(crawl, "statuses", 3)) == ["https://www.site.test/c"]


def test_depths_come_from_the_start(crawl: Crawl) -> None:
    assert told(crawl, "depths") == [(0, 1), (1, 2), (2, 2)]
    assert paths(behind(crawl, "depths", 1)) == ["/a", "/b"]


def test_types_are_those_of_answers(crawl: Crawl) -> None:
    assert told(crawl, "content-types") == [("text/html", 2, 30), ("not stated", 1, 5)]
    assert paths(behind(crawl, "content-types", 1)) == ["/b"]


def test_a_host_is_told_with_its_errors_and_its_median_time(crawl: Crawl) -> None:
    assert told(crawl, "hosts") == [("site.test", 4, 1, 20, 35), ("www.site.test", 1, 0, None, 0)]
    assert paths(behind(crawl, "hosts", 1)) == ["https://www.site.test/c"]


@pytest.mark.parametrize(("slug", "key"), [("statuses", "nonsense"), ("depths", "x"), ("depths", "9" * 20)])
def test_there_is_nothing_behind_what_is_no_line(crawl: Crawl, slug: str, key: str) -> None:
    assert BY_SLUG[slug].part(crawl, key) is None
