"""Has receivers told of pages as they close, where a crawl's options ask for it; nothing is done for the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from crawler.core.events import Event
from crawler.core.options import CrawlOptions
from crawler.core.outcomes import Kind
from crawler.core.work import PageResult
from crawler.engine.tell import tell_of_pages
from crawler.models import Crawl
from crawler.pages import OnClosed

ASKED = (Kind.FETCHED, Kind.FAILED)
"""What is told of is what was asked for: the receipt's "fetched" and "failed"."""


def teller_of(options: CrawlOptions, results: Iterable[PageResult]) -> OnClosed | None:
    """Tells of those of these results whose page they closed; None when nobody wants to know."""
    if Event.PAGE not in options.notify_events:
        return None
    asked = [result.id for result in results if result.outcome.kind in ASKED]

    def tell(crawl: Crawl, closed: Collection[int]) -> None:
        told = list(dict.fromkeys(page for page in asked if page in closed))
        if told:
            tell_of_pages(crawl, told)

    return tell


def teller_of_closed(options: CrawlOptions) -> OnClosed | None:
    """The same of pages that are closed without a result: their worker died each time, or they were put off."""
    if Event.PAGE not in options.notify_events:
        return None
    return lambda crawl, closed: tell_of_pages(crawl, list(closed))
