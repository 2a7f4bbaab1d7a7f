"""Crawls and pages made by hand, as rows the exports read."""

from __future__ import annotations

import hashlib
from typing import Any

from crawler.core.extraction.extractor import extract
from crawler.core.html.link_codec import Occurrences, keys, packed
from crawler.models import Crawl, Page, PageFacts, PageLinks


def make_crawl(url: str = "http://site.test/", **fields: Any) -> Crawl:
    return Crawl.objects.create(start_urls=[url], **fields)


def make_page(crawl: Crawl, url: str, **fields: Any) -> Page:
    return Page.objects.create(
        crawl=crawl, url=url, key=hashlib.blake2b(url.encode(), digest_size=16).digest(), **fields
    )


def make_links(page: Page, *links: tuple[str, str, str]) -> None:
    """Of a page, each with target, text and rel; several may have one target."""
    targets = list(dict.fromkeys(url for url, _, _ in links))
    written = Occurrences(
        [targets.index(url) for url, _, _ in links],
        [text for _, text, _ in links],
        {place: rel for place, (_, _, rel) in enumerate(links) if rel},
    )
    PageLinks.objects.create(
        page_id=page.id, crawl=page.crawl, keys=keys(targets), packed=packed(targets, written, page.url)
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


SHOP_RULES = [
    {"name": "name", "selector": "h1"},
    {"name": "price", "selector": ".price", "type": "number"},
    {"name": "stock", "selector": ".stock", "type": "integer"},
    {"name": "sold", "selector": ".sold", "type": "boolean"},
    {"name": "since", "selector": "time", "type": "date"},
    {"name": "link", "selector": "a", "attribute": "href", "type": "url"},
    {"name": "sizes", "selector": ".size", "type": "number", "many": True},
    {"name": "days", "selector": ".day", "type": "date", "many": True},
    {"name": "tags", "selector": ".tag", "many": True},
]
SHOP_PAGE = """<h1>Kettle</h1><p class=price>EUR {price}</p><p class=stock>7</p><p class=sold>yes</p>
<time>{since}</time><a href=/more>more</a>
<i class=size>1.5</i><i class=size>2</i><i class=day>2026-03-12</i><b class=tag>new</b><b class=tag>red</b>"""


def a_shop(*pages: str) -> Crawl:
    """A crawl of these pages, of which the fields were read."""
    crawl = make_crawl(options={"fields": SHOP_RULES})
    for number, html in enumerate(pages):
        url = f"http://site.test/{number}"
        found = extract(html.encode(), url, crawl.chosen.fields)
        page = make_page(crawl, url, status=Page.CLOSED, outcome="2xx")
        PageFacts.objects.create(page_id=page.pk, crawl=crawl, fields=found.values, notes=found.notes)
    return crawl
