"""How often hooks were called with the pages of a crawl, which does not change any more when it is over."""

from __future__ import annotations

from typing import Any

from crawler.capabilities.hooks.crawl_parts import calls_of
from crawler.capabilities.hooks.loading import ON_PAGE
from crawler.models import Crawl
from crawler.reports.receipt_parts import ReceiptPart

COUNTS = ("calls", "errors", "timeouts")


def _page_calls(crawl: Crawl) -> list[dict[str, Any]] | None:
    if crawl.round == 1 and not crawl.tallies.closed:
        return None  # no page was given to a hook: the notice of a start asks nothing of the database
    rows = [row for row in calls_of(crawl) if row.method == ON_PAGE]
    return [{"hook": row.hook, **{count: getattr(row, count) for count in COUNTS}} for row in rows] or None


RECEIPT_PARTS = (ReceiptPart("hooks", _page_calls),)
