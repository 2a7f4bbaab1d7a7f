"""Closes open pages whose time is over: the crawl's deadline, or their own time to live."""

from __future__ import annotations

from crawler import pages
from crawler.core.options import CrawlOptions
from crawler.crashpoints import crash_point
from crawler.engine.desk import Desk


def has_deadlines(options: CrawlOptions) -> bool:
    return options.deadline is not None or options.page_ttl is not None


def expire(desk: Desk) -> int:
    """How many pages were closed. A page that is being fetched at this moment is closed as well; its answer comes too
    late and changes nothing (rule R2)."""
    if not has_deadlines(desk.options):
        return 0
    closed = pages.close_expired(desk.id, desk.now())
    crash_point("expire: committed")
    return closed
