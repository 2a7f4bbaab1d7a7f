"""Crawls and pages made by hand, as rows the exports read."""

from __future__ import annotations

import hashlib
from typing import Any

from crawler.core.linkage import keys, packed
from crawler.models import Crawl, Page, PageLinks


def make_crawl(url: str = "http://site.test/", **fields: Any) -> Crawl:
    return Crawl.objects.create(start_urls=[url], **fields)


def make_page(crawl: Crawl, url: str, **fields: Any) -> Page:
    return Page.objects.create(
        crawl=crawl, url=url, key=hashlib.blake2b(url.encode(), digest_size=16).digest(), **fields
    )


def make_links(page: Page, *links: tuple[str, str, str]) -> None:
    """Of a page, each with target, text and rel."""
    urls, texts, rels = (
        [url for url, _, _ in links],
        [text for _, text, _ in links],
        {url: rel for url, _, rel in links},
    )
    PageLinks.objects.create(
        page_id=page.id, crawl=page.crawl, keys=keys(urls), packed=packed(urls, texts, rels, page.url)
    )


def make_linked_crawl(**fields: Any) -> Crawl:
    """A start page and a page below it that link to each other, to a missing page, a slow one, another site, and to
    what the crawl has no page of."""
    crawl = make_crawl(discovered=4, **fields)
    closed = {"status": Page.CLOSED, "outcome": "2xx", "http_status": 200, "content_type": "text/html"}
    start = make_page(crawl, "http://site.test/", title="Start", **closed)
    below = {"depth": 1, "parent_id": start.id}
    page = make_page(crawl, "http://site.test/a", title="A", **closed, **below)
    make_page(crawl, "http://site.test/gone", status=Page.CLOSED, outcome="4xx", http_status=404, **below)
    make_page(crawl, "http://site.test/slow", status=Page.CLOSED, outcome="timeout", depth=2, parent_id=page.id)
    make_page(crawl, "http://other.test/", status=Page.CLOSED, outcome="external", kind="external", **below)
    make_links(
        start,
        ("http://site.test/a", "To a", ""),
        ("http://site.test/gone", "Gone", "nofollow"),
        ("http://other.test/", "Other", ""),
        ("http://site.test/never-found", "Never", ""),
    )
    make_links(page, ("http://site.test/", "Home", ""), ("http://site.test/slow", "=slow", ""))
    return crawl
