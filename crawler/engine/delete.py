"""Deletes a crawl and all that belongs to it."""

from __future__ import annotations

from uuid import UUID

from crawler import pages, queues
from crawler.crashpoints import crash_point
from crawler.engine.control import cancel
from crawler.engine.wake import keep_or_cut_lifeline
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl

ROWS_AT_ONCE = 5000  # in one transaction, so that other crawls can write in between


def delete(crawl_id: UUID) -> bool:
    """End the crawl if it is not over, then delete its rows and its keys. Whether there was such a crawl.

    What a crash leaves is a crawl that is over, with a part of its pages. Whoever reconciles goes on with it.
    """
    if not Crawl.objects.filter(id=crawl_id).exists():
        return False
    cancel(crawl_id)
    crash_point("delete: cancelled")
    Frontier(queues.connection(), str(crawl_id)).condemn()
    while not delete_some(crawl_id):
        crash_point("delete: some rows deleted")
    return True


def delete_some(crawl_id: UUID) -> bool:
    """Delete some rows of a crawl that is over; whether that was the end of it."""
    if pages.delete_rows(crawl_id, ROWS_AT_ONCE):
        return False
    Crawl.objects.filter(id=crawl_id).delete()
    Frontier(queues.connection(), str(crawl_id)).bury()
    keep_or_cut_lifeline()
    return True
