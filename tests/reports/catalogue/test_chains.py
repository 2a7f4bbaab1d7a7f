"""Chains of redirects are told with each hop, and loops with where they come back to."""

import pytest

from crawler.models import Crawl
from tests.reports.catalogue.factories import SITE, crawl_with, make, moved, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    crawl = crawl_with()
    for path, to in {"/1": "/2", "/2": "/3", "/3": "/end", "/once": "/end", "/x": "/y", "/y": "/x"}.items():
        moved(crawl, path, to)
    make(crawl, "/end", 404)
    return crawl


def test_a_chain_is_told_once_from_where_it_begins(crawl: Crawl) -> None:
    hops = f"{SITE}/2\n{SITE}/3"
    assert told(crawl, "redirect-chains") == [(f"{SITE}/1", 3, hops, f"{SITE}/end", "404")]


def test_of_what_leaves_the_site_the_answer_is_not_known(crawl: Crawl) -> None:
    moved(crawl, "/out", "/away")
    moved(crawl, "/away", "https://other.test/")
    assert told(crawl, "redirect-chains")[1] == (f"{SITE}/out", 2, f"{SITE}/away", "https://other.test/", "not known")


def test_a_loop_is_told_with_where_it_comes_back_to(crawl: Crawl) -> None:
    assert told(crawl, "redirect-loops") == [(f"{SITE}/x", 2, f"{SITE}/y", f"{SITE}/x")]
