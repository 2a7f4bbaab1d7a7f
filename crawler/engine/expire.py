"""Closes open pages that are not waited for any longer: their time is over (the crawl's deadline, or their own time to
live), or nothing else is left to be done and their servers asked for a later time."""

from __future__ import annotations

from crawler import conf, pages, table
from crawler.core.options import CrawlOptions
from crawler.crashpoints import crash_point
from crawler.engine.desk import Desk
from crawler.engine.page_notices import teller_of_closed
from crawler.models import Crawl


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


def close_put_off(desk: Desk) -> int:
    """Where nothing is in hand, and all that waits in the window are pages that their servers put off (Retry-After):
    close them once that has been so for CRAWLER_RETRY_AFTER_WAIT seconds, with the response they had. They can be sent
    again. How many were closed.

    It is asked behind a refill, so a page that is open and not in the window may not be asked for before these are
    closed: it is beyond the crawl's page limit, or its owner's.
    """
    now = desk.now()
    put_off = table.count_put_off(desk.id, now)
    if not put_off or desk.frontier.window.waiting() > put_off:
        desk.frontier.close_nothing()
        return 0
    discovered = Crawl.objects.values_list("discovered", flat=True).get(id=desk.id)
    if now < desk.frontier.closing_at(discovered, now + conf.retry_after_wait()):
        return 0
    closed = pages.close_put_off(desk.id, now, teller_of_closed(desk.options))
    crash_point("conclude: put off pages closed")
    desk.frontier.dead.add(closed, now)
    return len(closed)
