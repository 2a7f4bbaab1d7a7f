"""Step four of a tick: say "finished" if, and only if, both completion checks agree (rule R6)."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from msgspec.structs import asdict

from crawler import clock
from crawler.core.protocol.completion import CompletionCheck, State, verdict
from crawler.crashpoints import crash_point
from crawler.crawls.control import finalize
from crawler.frontier.host_throttle import slowed_hosts
from crawler.manager.context import TickContext
from crawler.manager.dispatch import close_postponed
from crawler.models import Crawl, Disagreement, Page
from crawler.storage import queries

log = logging.getLogger(__name__)

MAX_SLOWED_HOSTS = 20  # that are kept for the receipt


def finish_if_done(context: TickContext) -> CompletionCheck:
    """Compare the two completion checks; finish the crawl, rebuild the frontier, or go on."""
    queue_side = context.frontier.queue_side()
    if queue_side.only_waits:
        close_postponed(context)
    if queue_side.only_waits and not queries.has_open(context.id):
        context.frontier.ready_queue.clear()  # the waiting pages were closed meanwhile, by a deadline or a limit
        queue_side = context.frontier.queue_side()
    if not queue_side.is_empty:
        return CompletionCheck.GO_ON  # so the table need not be asked
    result = verdict(queue_side, open_pages=queries.has_open(context.id))
    if result is CompletionCheck.DISAGREE:
        _rebuild(context)
    if result is CompletionCheck.FINISH:
        if not mark_finished(context.crawl, _slowed(context)):
            return CompletionCheck.GO_ON  # kept open, or paused, cancelled or given new pages at this very moment
        crash_point("conclude: finished")
    return result


def _slowed(context: TickContext) -> dict[str, Any] | None:
    hosts = slowed_hosts(context.frontier.redis, str(context.id), MAX_SLOWED_HOSTS)
    return {host: asdict(slowdown) for host, slowdown in hosts.items()} or None


def mark_finished(crawl: Crawl, slowed: dict[str, Any] | None = None) -> bool:
    """running -> finished while no page is open, with the outbox row, in one transaction; True if this call did it. Not
    while the crawl is kept open. `slowed`: its hosts that were slowed down."""
    with transaction.atomic():
        # Locked by a separate statement: in PostgreSQL the update would wait for a transaction that opens pages, and
        # then decide by the table's content before it.
        locked = Crawl.objects.select_for_update().filter(id=crawl.id).first()
        if locked is not None and locked.chosen.stay_open:
            return False
        open_page = Page.objects.filter(crawl_id=OuterRef("pk"), status=Page.OPEN)
        changed = (
            Crawl.objects.filter(id=crawl.id, state=State.RUNNING)
            .filter(~Exists(open_page))
            .update(state=State.FINISHED, finished_at=clock.now(), slowed=slowed)
        )
        if changed != 1:
            return False  # another got there first, or a page was opened meanwhile
        crawl.refresh_from_db()
        finalize(crawl)
    return True


def _rebuild(context: TickContext) -> None:
    """Redis lost pages that are open in the table: record it, and rebuild the frontier from the table."""
    what = "nothing was queued or handed out, yet the table had open pages; the frontier was built again from the table"
    log.warning("crawl %s: %s", context.id, what)
    Disagreement.objects.create(crawl=context.crawl, what=what)
    crash_point("conclude: disagreement noted")
    context.frontier.ready_queue.clear()
