"""Orphans are the pages that a sitemap names and nothing leads to, where that can be known."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.messages import SITEMAP
from crawler.reports.links import knows_orphans, orphans
from crawler.reports.progress import start_count, troubled_start_pages
from tests.factories import make_crawl, make_page

pytestmark = pytest.mark.django_db
SITE = "http://site.test/"


def crawl_with(**options: Any) -> Any:
    return make_crawl(options=CrawlOptions(**options).to_plain())


def test_a_listed_page_that_nothing_leads_to_is_an_orphan() -> None:
    crawl = crawl_with(sitemaps=True)
    make_page(crawl, SITE)
    make_page(crawl, f"{SITE}linked", linked=True)
    make_page(crawl, f"{SITE}both", linked=True, in_sitemap=True)
    make_page(crawl, f"{SITE}lonely", linked=False, in_sitemap=True)
    make_page(crawl_with(sitemaps=True), f"{SITE}of-another-crawl", linked=False, in_sitemap=True)
    assert [page.url for page in orphans(crawl)] == [f"{SITE}lonely"]


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({"sitemaps": True}, True),
        ({"sitemap_urls": (f"{SITE}map.xml",)}, True),
        ({}, False),
        ({"sitemaps": True, "recursive": False}, False),
    ],
)
def test_only_a_crawl_over_sitemaps_and_links_can_tell(options: dict[str, Any], known: bool) -> None:
    crawl = crawl_with(**options)
    make_page(crawl, f"{SITE}lonely", linked=False, in_sitemap=True)
    assert knows_orphans(crawl) is known
    assert orphans(crawl).exists() is known


def test_a_sitemap_that_is_missing_is_no_trouble_of_a_start_page() -> None:
    crawl = crawl_with(sitemaps=True)
    make_page(crawl, SITE, status=1, outcome="2xx")
    make_page(crawl, f"{SITE}sitemap.xml", kind=SITEMAP, status=1, outcome="4xx")
    assert (troubled_start_pages(crawl), start_count(crawl)) == ([], 1)
