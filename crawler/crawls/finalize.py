"""What belongs to the end of a crawl, however it ends: an audit of its counters, and the outbox row."""

from __future__ import annotations

import logging

from crawler import conf, logs
from crawler.content.content import sweep
from crawler.core.crawl.completion import State
from crawler.core.crawl.notices import Event
from crawler.crashpoints import crash_point
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl, Disagreement
from crawler.notices.outbox import send_out, tell
from crawler.queueing import queues
from crawler.queueing.wakeups import keep_or_cut_lifeline
from crawler.reports.progress import came_to_nothing
from crawler.storage import queries

log = logging.getLogger(__name__)


def put_down(crawl: Crawl) -> None:
    """Audit a crawl whose row says that it is over, and write its notice; to be called in that same transaction."""
    _audit(crawl)
    tell(crawl, _end_of(crawl))
    log.info("crawl %s of %s is %s", crawl.id, crawl.site, crawl.state, extra=logs.of(crawl.id))


def clear_away(crawl: Crawl) -> None:
    """Forget what Redis holds of a crawl that is over, and see that its notice goes out. Safe to repeat."""
    frontier = Frontier(queues.connection(), str(crawl.id))
    frontier.clear()
    frontier.dead_letters.expire_in(conf.dead_letter_seconds())
    crash_point("end: keys deleted")
    send_out(crawl)
    keep_or_cut_lifeline()
    if crawl.chosen.keep:
        sweep(crawl.id)


def _audit(crawl: Crawl) -> None:
    """Count the rows anew. The counters move with the rows and must equal them; the rows are right if they do not."""
    counted = queries.count_rows(crawl.id)
    if counted == crawl.tallies:
        return
    what = f"the counters said {crawl.tallies}, the rows say {counted}"
    log.error("crawl %s: %s", crawl.id, what, extra=logs.of(crawl.id))
    Disagreement.objects.create(crawl=crawl, what=what)
    crawl.discovered, crawl.outcomes, crawl.statuses = counted.discovered, counted.outcomes, counted.statuses
    crawl.save(update_fields=["discovered", "outcomes", "statuses"])


def _end_of(crawl: Crawl) -> Event:
    if crawl.state == State.CANCELLED:
        return Event.CANCELLED
    return Event.FAILED if came_to_nothing(crawl) else Event.FINISHED
