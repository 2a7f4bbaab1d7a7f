"""Holds crawls whose owner has used up the pages of the day; `shortages` lets them go on the next day. Nothing is lost
by it: a hold is a pause that ends by itself."""

from __future__ import annotations

import logging
from datetime import datetime
from uuid import UUID

from crawler import clock, logs, table
from crawler.accounts import quotas
from crawler.core.lifecycle import State
from crawler.core.quotas import next_day
from crawler.engine import control
from crawler.models import Crawl

log = logging.getLogger(__name__)


def ration(crawl: Crawl) -> None:
    """Hold a running crawl that may ask for no more today, unless nothing is left to ask for; one that is held and has
    nothing left may go on, and so finish. What is on its way when it is held is still taken in: where several crawls of
    its owner run, a day may have some more pages than it should by that."""
    if crawl.owner_id is None:
        return
    facts = Crawl.objects.filter(id=crawl.id).values_list("state", "held_until").first()
    now = clock.now()
    match facts:
        case State.RUNNING, _ if not quotas.has_left(crawl.owner_id, now) and table.has_open(crawl.id):
            _hold(crawl.id, next_day(now))
        case State.PAUSED, datetime() if not table.has_open(crawl.id):
            control.resume(crawl.id)


def _hold(crawl_id: UUID, until: datetime) -> None:
    if control.hold(crawl_id, until):
        why = "its owner's pages of the day are used up"
        log.info("crawl %s is held until %s: %s", crawl_id, until, why, extra=logs.of(crawl_id))
