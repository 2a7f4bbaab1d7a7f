"""Holds crawls whose owner's daily page quota is exhausted, or while Redis, the database or the content storage is
full, and resumes them. A hold is a pause that ends by itself (`core.protocol.holds` lists the reasons).

A hold is stored in the crawl's row. While the database cannot be written, the note of the shortage in Redis alone stops
crawls, and names the reason.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.db import DatabaseError, connection
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisSilent

from crawler import clock, logs
from crawler.accounts import quotas
from crawler.core.access.quotas import next_day
from crawler.core.installation.backpressure import Shortage, concerns, of_database, of_redis
from crawler.core.protocol.completion import State
from crawler.crawls import control
from crawler.frontier import capacity
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.queueing.duties import NOTHING, DutyResult, Scan
from crawler.reports.cause_text import because, shortage_text
from crawler.storage import queries
from crawler.storage.database import is_lock_timeout

log = logging.getLogger(__name__)


def enforce_quota(crawl: Crawl) -> None:
    """Hold a running crawl whose owner's daily quota is exhausted, unless it has no open page; resume a held one that
    has none, so that it finishes. Results under way are still processed: with several crawls of one owner the quota may
    be exceeded by some pages."""
    if crawl.owner_id is None:
        return
    facts = Crawl.objects.filter(id=crawl.id).values_list("state", "held_until").first()
    now = clock.now()
    match facts:
        case State.RUNNING, _ if not quotas.has_left(crawl.owner_id, now) and queries.has_open(crawl.id):
            _hold_for_quota(crawl.id, next_day(now))
        case State.PAUSED, datetime() if not queries.has_open(crawl.id):
            control.resume(crawl.id)


def _hold_for_quota(crawl_id: UUID, until: datetime) -> None:
    if control.hold(crawl_id, until):
        why = "its owner has used today's pages"
        log.info("crawl %s is held until %s: %s", crawl_id, until, why, extra=logs.of(crawl_id))


def check_room(crawl: Crawl) -> bool:
    """Whether the crawls of the owner may store more. Otherwise a running crawl with open pages is paused with the
    reason: only a user makes room, by deleting crawls, or with a larger quota."""
    why = quotas.no_room(crawl.owner_id)
    if not why or not queries.has_open(crawl.id):
        return True
    if control.pause(crawl.id, why):
        log.warning("crawl %s is paused: %s", crawl.id, why, extra=logs.of(crawl.id))
    return False


HOLD_TIME = timedelta(seconds=3)  # then the capacity is checked again
CHECK_INTERVAL_S = 0.25  # seconds for which a process believes that there is room: ticks may be many and short
NOTICE_INTERVAL_S = 3600  # at most one notice per crawl that it is held


class _LastCheck:
    at = float("-inf")  # monotonic seconds when this process found enough capacity


_last_check = _LastCheck()


def shortage_of(error: Exception) -> Shortage | None:
    """The shortage named by an error of Redis or the database; None for other errors."""
    if isinstance(error, RedisError):
        return of_redis(str(error))
    sqlstate = getattr(error.__cause__, "sqlstate", None) or getattr(error.__cause__, "pgcode", None)
    return of_database(sqlstate or "", str(error))


def database_error_message(error: Exception) -> str:
    """A message for users about an error of the database."""
    if is_lock_timeout(error):
        return "Another process is changing this: try again in a few seconds."
    short = shortage_of(error)
    return "The database does not respond." if short is None else shortage_text(short)


def shortage_now(*, held: bool = False) -> Shortage | None:
    """What is short now; None also if Redis does not respond."""
    try:
        return capacity.shortage(queues.connection(), held=held)
    except RedisError:
        return None


def note_shortage_from(error: Exception) -> Shortage | None:
    """The shortage named by this error, noted in Redis for all processes."""
    short = shortage_of(error)
    if short is not None and not isinstance(error, RedisError):
        note_shortage(short)
    return short


def note_shortage(short: Shortage) -> None:
    with suppress(RedisError):
        capacity.note_shortage(queues.connection(), short)


def check_capacity(crawl: Crawl, *, has_stored: bool) -> bool:
    """Whether there is capacity for a running crawl; if not, it is held, unless it has no open page. `has_stored`: some
    of its results were stored just now, so the database has capacity."""
    if time.monotonic() - _last_check.at < CHECK_INTERVAL_S:
        return True
    short = shortage_now()
    if short is not None and short.is_of_database and has_stored:
        capacity.clear_database_shortage(queues.connection())
        short = None
    if short is None:
        _last_check.at = time.monotonic()
        return True
    if not _concerns(short, crawl):
        return True
    if not queries.has_open(crawl.id):
        return True
    hold(crawl.id, short)
    return False


def update_holds(scan: Scan) -> DutyResult:
    """Hold crawls that lack capacity, and resume those whose hold is over, if the database accepts it."""
    short = shortage_now()
    if short is not None and not short.is_of_database:
        hold_all(short)
    try:
        resume_due(datetime.fromtimestamp(scan.now, UTC))
    except DatabaseError as error:  # go on with the checks that only read
        if note_shortage_from(error) is None and not is_lock_timeout(error):
            raise
    return NOTHING


def hold_all(short: Shortage) -> None:
    """Hold all running crawls, and extend the holds of the others."""
    with suppress(DatabaseError):
        for crawl in Crawl.objects.filter(state=State.RUNNING).only("id", "state", "options"):
            if _concerns(short, crawl):
                hold(crawl.id, short)
        _extend_holds(clock.now() + HOLD_TIME / 2)


def hold(crawl_id: UUID, short: Shortage) -> bool:
    """Hold a running crawl; True if the database accepted it."""
    try:
        is_new = control.hold(crawl_id, clock.now() + HOLD_TIME, may_notify=lambda: _may_notify(crawl_id))
    except DatabaseError:
        return False
    if is_new:
        log.warning("crawl %s is held, because %s", crawl_id, because(short), extra=logs.of(crawl_id))
    return True


def resume_due(now: datetime) -> int:
    """Resume the crawls whose hold is over, for whatever reason; returns how many. While capacity is short, their holds
    are extended."""
    over = Crawl.objects.filter(state=State.PAUSED, held_until__lte=now)
    crawls = list(over.only("id", "state", "options"))
    short = shortage_now(held=True) if crawls else None
    if short is not None and not short.is_of_database:  # for the database, resuming is the test
        _extend_holds(now, [crawl.id for crawl in crawls if _concerns(short, crawl)])
        crawls = [crawl for crawl in crawls if not _concerns(short, crawl)]
    resumed = sum(control.resume(crawl.id) for crawl in crawls)
    if resumed and short is not None and short.is_of_database:
        capacity.clear_database_shortage(queues.connection())
    return resumed


def _extend_holds(before: datetime, among: list[UUID] | None = None) -> None:
    held = Crawl.objects.filter(state=State.PAUSED, held_until__lte=before)
    (held if among is None else held.filter(id__in=among)).update(held_until=clock.now() + HOLD_TIME)


def _concerns(short: Shortage, crawl: Crawl) -> bool:
    return concerns(short, keeps=bool(crawl.chosen.keep))


def _may_notify(crawl_id: UUID) -> bool:
    try:
        return capacity.acquire_notice(queues.connection(), str(crawl_id), NOTICE_INTERVAL_S)
    except RedisError:
        return True  # Redis is full; held crawls resume only with some reserve, and so are seldom held


MAX_WAIT_S = 60.0
RETRY_INTERVAL_S = 0.5
LOG_INTERVAL_S = 5.0  # between two lines of the log, and between two attempts to hold the crawls

Answer = TypeVar("Answer")


def retry_on_outage(
    act: Callable[[], Answer],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    hold: Callable[[Shortage], None] = hold_all,
) -> Answer:
    """Call `act`, which must be idempotent, until it succeeds; raises the last error once Redis was down or full for
    MAX_WAIT_S. It may be restarting, or loading its data. While it is full, crawls are held."""
    began, said_at = clock(), float("-inf")
    while True:
        try:
            return act()
        except RedisError as error:
            short = shortage_of(error)
            now = clock()
            if (short is None and not isinstance(error, RedisAway | RedisSilent)) or now >= began + MAX_WAIT_S:
                raise
            if now - said_at >= LOG_INTERVAL_S:
                log.warning("Redis is away or full (%s); trying again", error)
                _held(short, hold)
                said_at = now
            sleep(RETRY_INTERVAL_S)


def _held(short: Shortage | None, hold: Callable[[Shortage], None]) -> None:
    if short is None:
        return
    is_new = connection.connection is None
    hold(short)
    if is_new:
        connection.close()  # a fetching thread has no connection of its own
