"""Finds running crawls without progress and wakes them, and sends notices that are due. Any process may call it (rule
R7)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from operator import itemgetter
from typing import cast
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Count, Min
from redis import Redis
from redis.exceptions import ResponseError

from crawler import clock
from crawler.accounts import audit
from crawler.core.errors import ServiceDown
from crawler.core.protocol.completion import (
    MAX_CHECK_INTERVAL_S,
    MIN_CHECK_INTERVAL_S,
    Liveness,
    State,
    needs_tick,
    rest_after,
)
from crawler.core.protocol.lanes import slot_lanes, suffixes
from crawler.crawls import kept_extraction
from crawler.crawls.control import clean_up
from crawler.crawls.delete import delete_in_steps
from crawler.crawls.holds import hold_all, note_shortage_from, resume_due, shortage_now, shortage_of
from crawler.crawls.import_urls import discard_abandoned
from crawler.frontier import capacity, scripts
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CRAWLS, RECONCILED, CrawlKeys
from crawler.frontier.results import MARK_FRESH_S, Mark, TickEnd
from crawler.frontier.slots import LaneSlots
from crawler.models import NOT_OVER, Crawl
from crawler.notices import outbox
from crawler.queueing import queues
from crawler.queueing.wakeups import wake
from crawler.queueing.workers import slots_of
from crawler.storage import queries
from crawler.storage.database import is_lock_timeout

log = logging.getLogger(__name__)

DELETE_STEPS_PER_SCAN = 10  # steps of unfinished deletions, about a second of work
SCAN_COLUMNS = (
    "id",
    "start_urls",
    "source",
    "discovered",
    "state",
    "options",
    "held_until",
)  # a row may be large
NO_SUCH_KEY = -2  # what PTTL answers where there is no key
EXPIRY_SLACK_S = 0.002  # added when waiting for a key to expire, so as not to come in the same millisecond
MS_PER_S = 1000


@dataclass(frozen=True)
class ScanResult:
    """What a scan found. The idle poller goes on while there are running crawls or pending deliveries."""

    running: int  # crawls
    woken: int  # of them
    pending: int  # deliveries
    next_in: float | None  # seconds until something is due; None = nothing has a time


def reconcile(*, at_once: bool = False) -> ScanResult | None:
    """Scan, and wake the crawls that need it. None when another process scanned just now (unless `at_once`): frequent
    calls are cheap. None as well while Redis refuses writes: then no crawl can be woken, and crawls are held."""
    try:
        if not queues.connection().set(RECONCILED, 1, nx=not at_once, px=int(MAX_CHECK_INTERVAL_S * MS_PER_S)):
            return None
    except ResponseError as error:
        short = shortage_of(error)
        if short is None:
            raise
        hold_all(short)
        return None
    began, found = time.monotonic(), None
    try:
        found = scan()
    finally:
        scan_within(rest_after(time.monotonic() - began, found.next_in if found else None))
    return found


def scan_within(seconds: float) -> None:
    """Allow the next scan in so many seconds at the latest. Never postpones a scan: its finding may be outdated by the
    time it ends."""
    scripts.run(queues.connection(), "expire_sooner", [RECONCILED], [max(1, int(seconds * MS_PER_S))])


def scan_when_due(frontier: Frontier, now: float) -> None:
    """Called at the end of a tick: it may leave a host that is due before the next scan."""
    dues = map(frontier.ready_queue.next_due, suffixes())
    due = min((moment for moment in dues if moment is not None), default=None)
    if due is not None:
        scan_within(max(MIN_CHECK_INTERVAL_S, due - now))


def seconds_until_scan() -> float | None:
    """Seconds until the next scan is allowed; None = at any time, or Redis refuses writes."""
    left = int(queues.connection().pttl(RECONCILED))
    return None if left == NO_SUCH_KEY else left / MS_PER_S + EXPIRY_SLACK_S


def scan() -> ScanResult:
    """Check every crawl that is not over and every pending delivery, and wake what needs it. The actor is the system,
    not the user whose request or job happened to call this."""
    try:
        with audit.as_system():
            return _scan()
    except DatabaseError as error:
        note_shortage_from(error)
        raise


def _scan() -> ScanResult:
    redis, now = queues.connection(), clock.epoch_seconds()
    woken, moments = 0, list[float]()
    _update_holds(now)
    is_resting = capacity.is_backing_off(redis)
    waiting = cache(partial(queues.queued, queues.CRAWL))
    crawls = list(Crawl.objects.filter(state__in=NOT_OVER).only(*SCAN_COLUMNS))
    if any(crawl.state == State.LOADING for crawl in crawls):
        discard_abandoned(DELETE_STEPS_PER_SCAN)
    expiries = queries.next_expiries() if crawls else {}
    for crawl in crawls:
        if crawl.state == State.LOADING:
            continue  # nothing of it is in Redis yet
        frontier = Frontier(redis, str(crawl.id))
        if not is_resting:
            sent, losses = _wake_other_collectors(crawl, redis, now, waiting)
            woken += sent
            moments += losses
        signs = read_liveness(crawl, frontier, now, waiting, expiries.get(crawl.id))
        if needs_tick(signs, now) and not is_resting:
            woken += wake(frontier, crawl.site)
        else:
            next_moment = signs.next_moment(now)
            held_until = crawl.held_until.timestamp() if crawl.held_until is not None else None
            moments += [moment for moment in (next_moment, held_until) if moment is not None]
    _clean_up(redis, {str(crawl.id) for crawl in crawls})
    kept_extraction.send_lost()
    pending, notice_due = _next_notice()
    if notice_due is not None:
        if notice_due <= clock.now():
            queues.send_notify()
        moments.append(notice_due.timestamp())
    next_in = max(0.0, min(moments) - now) if moments else None
    running = sum(crawl.state == State.RUNNING for crawl in crawls)
    return ScanResult(running=running, woken=woken, pending=pending, next_in=next_in)


def _wake_other_collectors(
    crawl: Crawl, redis: Redis, now: float, waiting: Callable[[], set[str]]
) -> tuple[int, list[float]]:
    """Send a tick of each collector but the first that has results or a mark, while no tick of it is at work or on its
    way: it died, or Redis lost its job. Returns how many, and the moments at which others may turn out to be lost."""
    others = CrawlKeys(str(crawl.id)).of_all_collectors()[1:]
    with redis.pipeline(transaction=False) as pipe:
        for keys in others:
            pipe.exists(keys.results, keys.mark)
            pipe.pttl(keys.lock)
            pipe.get(keys.mark)
        answers = pipe.execute()
    woken, moments = 0, list[float]()
    for keys, has_work, lock_ms, raw in zip(others, answers[::3], answers[1::3], answers[2::3], strict=True):
        mark = Mark.read(raw)
        is_coming = mark is not None and (mark.is_fresh(now) or mark.job in waiting())
        if has_work and lock_ms == NO_SUCH_KEY and not is_coming:
            woken += wake(Frontier(redis, str(crawl.id), collector=keys.collector), crawl.site)
        elif has_work:
            moments += [loss for loss in _losses(lock_ms, mark, now) if loss > now]
    return woken, moments


def _losses(lock_ms: int, mark: Mark | None, now: float) -> list[float]:
    """The moments at which a tick may turn out to be lost: its lock expires, or its mark is no longer fresh."""
    of_lock = [now + lock_ms / MS_PER_S + EXPIRY_SLACK_S] if lock_ms >= 0 else []
    of_mark = [mark.sent_at + MARK_FRESH_S + EXPIRY_SLACK_S] if mark is not None else []
    return of_lock + of_mark


def _update_holds(now: float) -> None:
    """Hold crawls that lack capacity, and resume those whose hold is over, if the database accepts it."""
    short = shortage_now()
    if short is not None and not short.is_of_database:
        hold_all(short)
    try:
        resume_due(datetime.fromtimestamp(now, UTC))
    except DatabaseError as error:  # go on with the checks that only read
        if note_shortage_from(error) is None and not is_lock_timeout(error):
            raise


def _next_notice() -> tuple[int, datetime | None]:
    """How many deliveries are pending, and when the next one is due."""
    due = outbox.pending().aggregate(number=Count("id"), first=Min("due_at"))
    of_pages = outbox.pending_pages().aggregate(number=Count("id"), first=Min("due_at"))
    moments = [due["first"]] if due["number"] else []
    if of_pages["number"]:
        rested = clock.now() + timedelta(seconds=queues.page_notices_wait())
        moments.append(max(of_pages["first"], rested))
    return due["number"] + of_pages["number"], min(moments, default=None)


def _clean_up(redis: Redis, alive: set[str]) -> None:
    """Delete the Redis keys of crawls that are over or deleted: a process died before doing so, or reported too late.
    Crawls that are not in this database belong to another installation."""
    known = {raw.decode() for raw in cast(set[bytes], redis.smembers(CRAWLS))}
    steps = iter(range(DELETE_STEPS_PER_SCAN))  # for all of them, because the caller waits
    for name in known - alive:
        crawl = Crawl.objects.filter(id=name).first()
        frontier = Frontier(redis, name)
        if frontier.is_being_deleted():
            _resume_deletion(UUID(name), steps)
        elif crawl is not None and crawl.is_over:
            clean_up(crawl)


def _resume_deletion(crawl_id: UUID, steps: Iterator[int]) -> None:
    try:
        for _ in zip(steps, delete_in_steps(crawl_id), strict=False):
            pass
    except ServiceDown as error:
        log.warning("crawl %s is not deleted yet: %s", crawl_id, error)


def read_liveness(
    crawl: Crawl,
    frontier: Frontier,
    now: float,
    waiting: Callable[[], set[str]],
    next_expiry: float | None,
) -> Liveness:
    """The state of a crawl: from Redis, read in one step, and from the table when the next page expires. `waiting`: the
    jobs in the queue of ticks, which is long when there are many crawls, and so is read once for all of them."""
    keys = frontier.keys
    with frontier.redis.pipeline() as pipe:
        pipe.pttl(keys.lock)
        pipe.exists(keys.cursor)
        pipe.llen(keys.results)
        pipe.zcard(keys.leases)
        pipe.zcount(keys.leases, "-inf", now)
        pipe.zrangebyscore(keys.leases, f"({now}", "+inf", 0, 1, withscores=True)
        pipe.get(keys.mark)
        pipe.get(keys.closing)
        pipe.get(keys.tick)
        for waiting_in in keys.of_suffixes():
            pipe.zrange(waiting_in.hosts, 0, 0, withscores=True)
        lock_ms, lined_up, results, leases, overdue, next_lease, raw, closing, ticked, first, *firsts = pipe.execute()
    mark, last = Mark.read(raw), TickEnd.read(ticked)
    losses = [*_losses(lock_ms, mark, now), *(look_at for _, look_at in next_lease)]
    waits_for_slot = False
    for lane, (host,) in ((lane, found) for lane, found in zip(slot_lanes(), firsts, strict=True) if found):
        if slots_of(lane, now) > LaneSlots(frontier.redis, lane).taken():
            first = [min([*first, host], key=itemgetter(1))]
        else:
            waits_for_slot = True
    return Liveness(
        locked=lock_ms != NO_SUCH_KEY,
        tick_coming=mark is not None and (mark.is_fresh(now) or mark.job in waiting()),
        results=results,
        leases=leases,
        overdue_leases=overdue,
        next_due=cast(float, first[0][1]) if first else None,
        next_expiry=next_expiry,
        closing_at=float(closing.split()[0]) if closing else None,
        paused=crawl.state != State.RUNNING,
        rewound=not lined_up or (last is not None and last.is_in_future(now)),
        waits_for_slot=waits_for_slot,
        waits_for_pages=crawl.chosen.stay_open and not (results or leases or queries.has_open(crawl.id)),
        next_loss=min((loss for loss in losses if loss > now), default=None),
    )
