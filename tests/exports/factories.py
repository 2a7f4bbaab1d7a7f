"""Crawls and pages made by hand, as rows the exports read."""

from __future__ import annotations

import hashlib
from typing import Any

from crawler.models import Crawl, Page


def make_crawl(url: str = "http://site.test/", **fields: Any) -> Crawl:
    return Crawl.objects.create(start_urls=[url], **fields)


def make_page(crawl: Crawl, url: str, **fields: Any) -> Page:
    return Page.objects.create(
        crawl=crawl, url=url, key=hashlib.blake2b(url.encode(), digest_size=16).digest(), **fields
    )
