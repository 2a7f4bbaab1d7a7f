"""Step four of a tick: say "finished" if, and only if, both completion checks agree (rule R6)."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from crawler import pages
from crawler.core.completion import Verdict, verdict
from crawler.core.lifecycle import State, predecessors
from crawler.engine.desk import Desk
from crawler.models import Crawl, Delivery, Disagreement, Notice, Page
from crawler.reports.receipt import receipt_of

log = logging.getLogger(__name__)


def conclude(desk: Desk) -> Verdict:
    """Compare the two checks and do what follows from them."""
    queue_side = desk.frontier.queue_side()
    if not queue_side.is_empty:
        return Verdict.GO_ON  # so the table need not be asked
    said = verdict(queue_side, open_pages=pages.has_open(desk.id))
    if said is Verdict.DISAGREE:
        _rebuild(desk)
    if said is Verdict.FINISH:
        finish(desk.crawl)
    return said


def finish(crawl: Crawl) -> bool:
    """running -> finished while no page is open, with the outbox row, in one transaction; whether it was this call."""
    with transaction.atomic():
        open_page = Page.objects.filter(crawl_id=OuterRef("pk"), status=Page.OPEN)
        changed = (
            Crawl.objects.filter(id=crawl.id, state__in=predecessors(State.FINISHED))
            .filter(~Exists(open_page))
            .update(state=State.FINISHED, finished_at=datetime.now(UTC))
        )
        if changed != 1:
            return False  # another tick got there first, or a page was opened meanwhile
        crawl.refresh_from_db()
        _audit(crawl)
        _put_in_outbox(crawl)
    log.info("crawl %s of %s is finished", crawl.id, crawl.site)
    return True


def _audit(crawl: Crawl) -> None:
    """Count the rows anew. The counters move with the rows and must equal them; the rows are right if they do not."""
    counted = pages.count_rows(crawl.id)
    if counted == crawl.tallies:
        return
    what = f"the counters said {crawl.tallies}, the rows say {counted}"
    log.error("crawl %s: %s", crawl.id, what)
    Disagreement.objects.create(crawl=crawl, what=what)
    crawl.discovered, crawl.outcomes, crawl.statuses = counted.discovered, counted.outcomes, counted.statuses
    crawl.save(update_fields=["discovered", "outcomes", "statuses"])


def _put_in_outbox(crawl: Crawl) -> None:
    notice = Notice.objects.create(crawl=crawl, event="crawl.finished", receipt={})
    options = crawl.chosen
    Delivery.objects.bulk_create(
        [
            *(Delivery(notice=notice, transport="email", address=address) for address in options.notify_emails),
            *(Delivery(notice=notice, transport="webhook", address=url) for url in options.notify_webhooks),
        ]
    )
    notice.receipt = receipt_of(crawl)
    notice.save(update_fields=["receipt"])


def _rebuild(desk: Desk) -> None:
    """The queue side lost pages the table still has open: say so, and build the frontier again from the table."""
    what = "nothing was queued or handed out, yet the table had open pages; the frontier was built again from the table"
    log.warning("crawl %s: %s", desk.id, what)
    Disagreement.objects.create(crawl=desk.crawl, what=what)
    desk.frontier.window.forget()
