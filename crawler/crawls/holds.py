"""Holds crawls whose owner has used up the pages of the day; `shortages` lets them go on the next day. Nothing is lost
by it: a hold is a pause that ends by itself."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.db import DatabaseError
from redis.exceptions import RedisError

from crawler import clock, logs
from crawler.accounts import quotas
from crawler.core.access.quotas import next_day
from crawler.core.crawl.completion import State
from crawler.core.installation.backpressure import Shortage, because, concerns, of_database, of_redis, sentence
from crawler.crawls import control
from crawler.frontier import capacity
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.storage import queries
from crawler.storage.postgresql import is_lock_timeout

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
        case State.RUNNING, _ if not quotas.has_left(crawl.owner_id, now) and queries.has_open(crawl.id):
            _hold(crawl.id, next_day(now))
        case State.PAUSED, datetime() if not queries.has_open(crawl.id):
            control.resume(crawl.id)


def _hold(crawl_id: UUID, until: datetime) -> None:
    if control.hold(crawl_id, until):
        why = "its owner's pages of the day are used up"
        log.info("crawl %s is held until %s: %s", crawl_id, until, why, extra=logs.of(crawl_id))


# Holds crawls while there is no room in Redis, in the database or where content is kept, and lets them go on once
# there is. Nothing is lost by it: a hold is a pause that ends by itself.
#
# The hold is a row's state, like that of `ration`. While not even that can be written, the note in Redis alone keeps
# crawls from going on, and says why.

HOLD = timedelta(seconds=3)  # then somebody sees whether there is room by now
LOOK_EVERY = 0.25  # seconds for which a process believes that there is room: ticks may be many and short
TOLD_EVERY = 3600  # seconds within which people are told once that a crawl is held, however often it is tried again


class _Seen:
    at = float("-inf")  # monotonic seconds when this process found room for everything


_seen = _Seen()


def shortage_of(error: Exception) -> Shortage | None:
    """What an error of Redis or the database says is short; None = it is about something else."""
    if isinstance(error, RedisError):
        return of_redis(str(error))
    sqlstate = getattr(error.__cause__, "sqlstate", None) or getattr(error.__cause__, "pgcode", None)
    return of_database(sqlstate or "", str(error))


def database_trouble(error: Exception) -> str:
    """What an error of the database says to a person, in sentences."""
    if is_lock_timeout(error):
        return "Another process is changing this at the moment: try again in a few seconds."
    short = shortage_of(error)
    return "The database does not answer." if short is None else sentence(short)


def shortage_now(*, held: bool = False) -> Shortage | None:
    """What is short now; None also when Redis does not answer."""
    try:
        return capacity.shortage(queues.connection(), held=held)
    except RedisError:
        return None


def noted(error: Exception) -> Shortage | None:
    """What this error says is short, noted for everybody to know."""
    short = shortage_of(error)
    if short is not None and not isinstance(error, RedisError):
        note(short)
    return short


def note(short: Shortage) -> None:
    with suppress(RedisError):
        capacity.note_shortage(queues.connection(), short)


def may_go_on(crawl: Crawl, *, has_stored: bool) -> bool:
    """Whether there is room for what a running crawl would find next; if not, it is held, unless nothing is left of
    it. `has_stored`: some of what it found was stored just now, so that the database has room."""
    if time.monotonic() - _seen.at < LOOK_EVERY:
        return True
    short = shortage_now()
    if short is not None and short.is_of_database and has_stored:
        capacity.clear_database_shortage(queues.connection())
        short = None
    if short is None:
        _seen.at = time.monotonic()
        return True
    if not _concerns(short, crawl):
        return True
    if not queries.has_open(crawl.id):
        return True
    hold(crawl.id, short)
    return False


def hold_all(short: Shortage) -> None:
    """Hold all running crawls, and go on holding those that are held."""
    with suppress(DatabaseError):
        for crawl in Crawl.objects.filter(state=State.RUNNING).only("id", "state", "options"):
            if _concerns(short, crawl):
                hold(crawl.id, short)
        _go_on_holding(clock.now() + HOLD / 2)


def hold(crawl_id: UUID, short: Shortage) -> bool:
    """Hold a running crawl; whether it could be written down that it is."""
    try:
        is_new = control.hold(crawl_id, clock.now() + HOLD, may_tell=lambda: _may_tell(crawl_id))
    except DatabaseError:
        return False
    if is_new:
        log.warning("crawl %s is held, because %s", crawl_id, because(short), extra=logs.of(crawl_id))
    return True


def let_go_on(now: datetime) -> int:
    """Resume the crawls whose hold is over, whatever it was for; how many. While there is no room, they go on being
    held."""
    over = Crawl.objects.filter(state=State.PAUSED, held_until__lte=now)
    crawls = list(over.only("id", "state", "options"))
    short = shortage_now(held=True) if crawls else None
    if short is not None and not short.is_of_database:  # of the database the resuming itself is the trial
        _go_on_holding(now, [crawl.id for crawl in crawls if _concerns(short, crawl)])
        crawls = [crawl for crawl in crawls if not _concerns(short, crawl)]
    resumed = sum(control.resume(crawl.id) for crawl in crawls)
    if resumed and short is not None and short.is_of_database:
        capacity.clear_database_shortage(queues.connection())
    return resumed


def _go_on_holding(before: datetime, among: list[UUID] | None = None) -> None:
    held = Crawl.objects.filter(state=State.PAUSED, held_until__lte=before)
    (held if among is None else held.filter(id__in=among)).update(held_until=clock.now() + HOLD)


def _concerns(short: Shortage, crawl: Crawl) -> bool:
    return concerns(short, keeps=bool(crawl.chosen.keep))


def _may_tell(crawl_id: UUID) -> bool:
    try:
        return capacity.acquire_notice(queues.connection(), str(crawl_id), TOLD_EVERY)
    except RedisError:
        return True  # Redis is full, then; held crawls go on when there is a good deal of room, and so are seldom held
