"""Finalizes an ended crawl: audit of its counters, outbox row, clean-up of its keys."""

from __future__ import annotations

import logging

from crawler import conf, logs
from crawler.content.content import sweep
from crawler.core.crawl.completion import State
from crawler.core.crawl.notices import Event
from crawler.crashpoints import crash_point
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl, Disagreement
from crawler.notices.outbox import add_notice, request_delivery
from crawler.queueing import queues
from crawler.queueing.wakeups import update_rescue_job
from crawler.reports.progress import came_to_nothing
from crawler.storage import queries

log = logging.getLogger(__name__)


def finalize(crawl: Crawl) -> None:
    """Audit a crawl whose row says that it is over, and write its notice; called in the same transaction."""
    _audit(crawl)
    add_notice(crawl, _end_event(crawl))
    log.info("crawl %s of %s is %s", crawl.id, crawl.site, crawl.state, extra=logs.of(crawl.id))


def clean_up(crawl: Crawl) -> None:
    """Delete the Redis keys of a crawl that is over, and send its notice. Idempotent."""
    frontier = Frontier(queues.connection(), str(crawl.id))
    frontier.clear()
    frontier.dead_letters.expire_in(conf.dead_letter_seconds())
    crash_point("end: keys deleted")
    request_delivery(crawl)
    update_rescue_job()
    if crawl.chosen.keep:
        sweep(crawl.id)


def _audit(crawl: Crawl) -> None:
    """Recount the rows. The counters change with the rows and must equal them; if they do not, the rows are right."""
    counted = queries.count_rows(crawl.id)
    if counted == crawl.tallies:
        return
    what = f"the counters said {crawl.tallies}, the rows say {counted}"
    log.error("crawl %s: %s", crawl.id, what, extra=logs.of(crawl.id))
    Disagreement.objects.create(crawl=crawl, what=what)
    crawl.discovered, crawl.outcomes, crawl.statuses = counted.discovered, counted.outcomes, counted.statuses
    crawl.save(update_fields=["discovered", "outcomes", "statuses"])


def _end_event(crawl: Crawl) -> Event:
    if crawl.state == State.CANCELLED:
        return Event.CANCELLED
    return Event.FAILED if came_to_nothing(crawl) else Event.FINISHED
