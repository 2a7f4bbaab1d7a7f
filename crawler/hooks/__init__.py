"""Hooks: the operator's own Python classes, named in CRAWLER_HOOKS, that see each page and the end of each crawl.

What such a class imports is here: `from crawler.hooks import SKIP, Found, PageSeen, Response`. docs/hooks.md says what
its methods may do.

types     what hooks are given, and what they return
loading   the classes that the settings name
calls     calls a method with a time limit, and contains its errors
on_page   the hooks of a crawl on one page
"""

from crawler.hooks.types import SKIP, CrawlFinished, Found, OnClosed, OnFinished, OnPage, PageClosed, PageSeen, Response

__all__ = [
    "SKIP",
    "CrawlFinished",
    "Found",
    "OnClosed",
    "OnFinished",
    "OnPage",
    "PageClosed",
    "PageSeen",
    "Response",
]
