"""The links on one page and those to it, a part of them at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crawler.core import linkage
from crawler.core.urls import key_of
from crawler.models import Crawl, Page, PageLinks
from crawler.reports.inlinks import links_on
from crawler.reports.link_index import pages_with


def links_out(page: Page, at: int, at_most: int) -> dict[str, Any]:
    """Where this page links to, in the order of its text: `number` of all, and `links` from the place `at` on. Each
    has the words it is written with, its rel, and what came of its target; `page` is None when that has no row."""
    kept = PageLinks.objects.filter(pk=page.pk).first()
    links = linkage.unpacked(bytes(kept.packed), page.url) if kept else []
    part = links[at : at + at_most]
    targets = _targets(page.crawl_id, (link.url for link in part))
    return {"number": len(links), "from": at, "links": [{**link._asdict(), **targets[link.url]} for link in part]}


def links_in(crawl: Crawl, page: Page, at: int, at_most: int) -> dict[str, Any]:
    """Which pages link to this one, in the order of their discovery: `number` of all these pages, and the `links` on
    them from the place `at` on."""
    key = linkage.short_key(page.url)
    pages = pages_with(crawl, key)
    part = pages[at : at + at_most]
    links = [
        {"page": source, "url": link.page, "text": link.text, "rel": link.rel} for source, link in links_on(part, key)
    ]
    return {"number": len(pages), "from": at, "links": links}


def _targets(crawl_id: Any, urls: Iterable[str]) -> dict[str, dict[str, Any]]:
    """URL -> what came of it."""
    keys = {key_of(url): url for url in urls}
    unknown: dict[str, Any] = {"page": None, "outcome": None, "http_status": None}
    found = dict.fromkeys(keys.values(), unknown)
    rows = Page.objects.filter(crawl_id=crawl_id, key__in=list(keys))
    for key, page, outcome, http_status in rows.values_list("key", "id", "outcome", "http_status"):
        found[keys[bytes(key)]] = {"page": page, "outcome": outcome or None, "http_status": http_status}
    return found
