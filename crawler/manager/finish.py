"""Step four of a tick: say "finished" if, and only if, both completion checks agree (rule R6)."""

from __future__ import annotations

import logging

from django.db import transaction
from django.db.models import Exists, OuterRef

from crawler import clock
from crawler.core.crawl.completion import State, Verdict, verdict
from crawler.crashpoints import crash_point
from crawler.crawls.finalize import put_down
from crawler.manager.context import Desk
from crawler.manager.dispatch import close_put_off
from crawler.models import Crawl, Disagreement, Page
from crawler.storage import queries

log = logging.getLogger(__name__)


def conclude(desk: Desk) -> Verdict:
    """Compare the two checks and do what follows from them."""
    queue_side = desk.frontier.queue_side()
    if queue_side.only_waits:
        close_put_off(desk)
    if queue_side.only_waits and not queries.has_open(desk.id):
        desk.frontier.window.forget()  # what waits was closed since, by a deadline or a limit
        queue_side = desk.frontier.queue_side()
    if not queue_side.is_empty:
        return Verdict.GO_ON  # so the table need not be asked
    said = verdict(queue_side, open_pages=queries.has_open(desk.id))
    if said is Verdict.DISAGREE:
        _rebuild(desk)
    if said is Verdict.FINISH:
        if not finish(desk.crawl):
            return Verdict.GO_ON  # paused, cancelled or given new pages at this very moment
        crash_point("conclude: finished")
    return said


def finish(crawl: Crawl) -> bool:
    """running -> finished while no page is open, with the outbox row, in one transaction; whether it was this call."""
    with transaction.atomic():
        # Locked by a statement of its own: PostgreSQL would let the update wait for whoever opens pages at this moment,
        # and then go by what the table held before.
        Crawl.objects.select_for_update().filter(id=crawl.id).first()
        open_page = Page.objects.filter(crawl_id=OuterRef("pk"), status=Page.OPEN)
        changed = (
            Crawl.objects.filter(id=crawl.id, state=State.RUNNING)
            .filter(~Exists(open_page))
            .update(state=State.FINISHED, finished_at=clock.now())
        )
        if changed != 1:
            return False  # another got there first, or a page was opened meanwhile
        crawl.refresh_from_db()
        put_down(crawl)
    return True


def _rebuild(desk: Desk) -> None:
    """The queue side lost pages the table still has open: say so, and build the frontier again from the table."""
    what = "nothing was queued or handed out, yet the table had open pages; the frontier was built again from the table"
    log.warning("crawl %s: %s", desk.id, what)
    Disagreement.objects.create(crawl=desk.crawl, what=what)
    crash_point("conclude: disagreement noted")
    desk.frontier.window.forget()
