"""Sends dead letters again: opens pages that were given up, and with them a crawl that was over."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from crawler import audit, clock, pages, queues
from crawler.crashpoints import crash_point
from crawler.engine.rounds import begin_round_if_over
from crawler.engine.tell import send_out
from crawler.engine.wake import keep_watch, wake
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl


def retry_failed(crawl_id: UUID, page_ids: Sequence[int] | None = None) -> int:
    """Ask again for all dead letters of a crawl, or for those among `page_ids`; how many there were.

    A crawl that was over runs again, in its next round: it finishes anew, with a new notice. A paused one stays paused.
    """
    now, frontier = clock.epoch_seconds(), Frontier(queues.connection(), str(crawl_id))
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id).first()
        if crawl is None:
            return 0
        reopened = pages.reopen(crawl_id, page_ids, now)
        if reopened:
            begin_round_if_over(crawl, now)
            audit.note("crawl.retried", crawl, after={"pages": reopened})
        frontier.window.rewind()  # before the commit: should we die behind it, the pages flow in all the same
    if not reopened:
        return 0
    crash_point("retry: committed")
    frontier.revive(page_ids)
    wake(frontier, crawl.site)
    keep_watch()
    send_out(crawl)
    return reopened
