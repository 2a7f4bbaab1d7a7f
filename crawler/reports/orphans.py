"""The orphans of a crawl: pages that a sitemap names and no other page links to."""

from __future__ import annotations

from django.db.models import QuerySet

from crawler.core.work import PAGE
from crawler.models import Crawl, Page


def knows_orphans(crawl: Crawl) -> bool:
    """Whether the crawl looks at sitemaps and at links, so that it can tell."""
    return crawl.chosen.uses_sitemaps and crawl.chosen.recursive


def orphans(crawl: Crawl) -> QuerySet[Page]:
    """Pages named by a sitemap that nothing leads to, in the order of their discovery: no link or redirect of another
    page that was fetched, and no person who started the crawl there.

    What pages link to that were not fetched cannot be known; so only a crawl that is over, and had no limits, has seen
    all there is.
    """
    if not knows_orphans(crawl):
        return Page.objects.none()
    return Page.objects.filter(crawl=crawl, kind=PAGE, in_sitemap=True, linked=False).order_by("id")
