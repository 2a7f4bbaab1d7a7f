"""Finds running crawls with no sign of life and wakes them, and notices that are due. Anyone may call it (rule R7)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import cast
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Count, Min
from redis import Redis
from redis.exceptions import ResponseError

from crawler import clock
from crawler.accounts import audit
from crawler.core.crawl.completion import LEAST, LONGEST, Signs, State, needs_tick, rest_after
from crawler.core.errors import ServiceDown
from crawler.crawls.delete import delete_some
from crawler.crawls.finalize import clear_away
from crawler.crawls.holds import hold_all, let_go_on, noted, shortage_now, shortage_of
from crawler.crawls.import_urls import discard_abandoned
from crawler.frontier import capacity, scripts
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CRAWLS, RECONCILED
from crawler.frontier.results import FRESH_SECONDS, Mark, Tick
from crawler.manager.dispatch import has_deadlines
from crawler.models import NOT_OVER, Crawl
from crawler.notices import outbox
from crawler.queueing import queues
from crawler.queueing.wakeups import wake
from crawler.storage import queries
from crawler.storage.postgresql import is_lock_timeout

log = logging.getLogger(__name__)

DELETIONS_A_LOOK = 10  # steps of an unfinished deletion, about a second's worth
NEEDED = ("id", "start_urls", "source", "discovered", "state", "options", "held_until")  # of a row that may be long
GONE = -2  # what PTTL answers where there is no key
SLACK = 0.002  # seconds; whoever waits for a key to expire comes after that and not in the same millisecond
MS = 1000  # of a second, in which Redis counts how long the looks rest


@dataclass(frozen=True)
class Reconciled:
    """What was found. Running crawls and pending deliveries are reasons for a watch to go on."""

    running: int  # crawls
    woken: int  # of them
    pending: int  # deliveries
    next_in: float | None  # seconds until something is due; None = nothing has a time


def reconcile(*, at_once: bool = False) -> Reconciled | None:
    """Wake what needs waking. None when somebody else did so just now (unless it is to be done `at_once`): it is cheap
    to call often. None as well while Redis takes nothing in: then nobody can be woken, and crawls are held."""
    try:
        if not queues.connection().set(RECONCILED, 1, nx=not at_once, px=int(LONGEST * MS)):
            return None
    except ResponseError as error:
        short = shortage_of(error)
        if short is None:
            raise
        hold_all(short)
        return None
    began, found = time.monotonic(), None
    try:
        found = survey()
    finally:
        look_within(rest_after(time.monotonic() - began, found.next_in if found else None))
    return found


def look_within(seconds: float) -> None:
    """Let the crawls be looked at in so many seconds, unless somebody is to do so before. Never later: what was found
    at a look may be out of date by its end."""
    scripts.run(queues.connection(), "sooner", [RECONCILED], [max(1, int(seconds * MS))])


def look_when_due(frontier: Frontier, now: float) -> None:
    """To be called by a tick that ends: it may have left a host that is due before the crawls are looked at again."""
    due = frontier.window.next_due()
    if due is not None:
        look_within(max(LEAST, due - now))


def rest_of_looks() -> float | None:
    """Seconds until anybody may look at the crawls again; None = at any time, or Redis takes nothing in."""
    left = int(queues.connection().pttl(RECONCILED))
    return None if left == GONE else left / MS + SLACK


def survey() -> Reconciled:
    """Look at every crawl that is not over and every pending delivery, and wake what needs waking. What is done by the
    way was not asked for by whoever came by."""
    try:
        with audit.as_system():
            return _surveyed()
    except DatabaseError as error:
        noted(error)
        raise


def _surveyed() -> Reconciled:
    redis = queues.connection()
    now = clock.epoch_seconds()
    woken = 0
    moments: list[float] = []
    _see_to_room(now)
    is_resting = capacity.is_noted_lately(redis)
    waiting = cache(partial(queues.queued, queues.CRAWL))
    crawls = list(Crawl.objects.filter(state__in=NOT_OVER).only(*NEEDED))
    if any(crawl.state == State.LOADING for crawl in crawls):
        discard_abandoned(DELETIONS_A_LOOK)
    for crawl in crawls:
        if crawl.state == State.LOADING:
            continue  # nothing of it is in Redis yet
        frontier = Frontier(redis, str(crawl.id))
        signs = signs_of(crawl, frontier, now, waiting)
        if needs_tick(signs, now) and not is_resting:
            woken += wake(frontier, crawl.site)
        else:
            next_moment = signs.next_moment(now)
            held_until = crawl.held_until.timestamp() if crawl.held_until is not None else None
            moments += [moment for moment in (next_moment, held_until) if moment is not None]
    _sweep(redis, {str(crawl.id) for crawl in crawls})
    pending, notice_due = _next_notice()
    if notice_due is not None:
        if notice_due <= clock.now():
            queues.send_notify()
        moments.append(notice_due.timestamp())
    next_in = max(0.0, min(moments) - now) if moments else None
    running = sum(crawl.state == State.RUNNING for crawl in crawls)
    return Reconciled(running=running, woken=woken, pending=pending, next_in=next_in)


def _see_to_room(now: float) -> None:
    """Hold crawls for which there is no room, and let those go on whose hold is over, if the database lets us."""
    short = shortage_now()
    if short is not None and not short.is_of_database:
        hold_all(short)
    try:
        let_go_on(datetime.fromtimestamp(now, UTC))
    except DatabaseError as error:  # what can be read is still to be looked at
        if noted(error) is None and not is_lock_timeout(error):
            raise


def _next_notice() -> tuple[int, datetime | None]:
    """How many deliveries are pending, and when something is to be done about one of them."""
    said = outbox.pending().aggregate(number=Count("id"), first=Min("due_at"))
    of_pages = outbox.pending_pages().aggregate(number=Count("id"), first=Min("due_at"))
    moments = [said["first"]] if said["number"] else []
    if of_pages["number"]:
        rested = clock.now() + timedelta(seconds=queues.rest_from_pages())
        moments.append(max(of_pages["first"], rested))
    return said["number"] + of_pages["number"], min(moments, default=None)


def _sweep(redis: Redis, alive: set[str]) -> None:
    """Clear away what crawls that are over, or deleted, still have in Redis: somebody died before doing so, or reported
    too late. Crawls this database does not know belong to another installation."""
    known = {raw.decode() for raw in cast(set[bytes], redis.smembers(CRAWLS))}
    for name in known - alive:
        crawl = Crawl.objects.filter(id=name).first()
        frontier = Frontier(redis, name)
        if frontier.is_condemned():
            _go_on_deleting(UUID(name))
        elif crawl is not None and crawl.is_over:
            clear_away(crawl)


def _go_on_deleting(crawl_id: UUID) -> None:
    try:
        any(delete_some(crawl_id) for _ in range(DELETIONS_A_LOOK))
    except ServiceDown as error:
        log.warning("crawl %s is not deleted yet: %s", crawl_id, error)


def signs_of(crawl: Crawl, frontier: Frontier, now: float, waiting: Callable[[], set[str]]) -> Signs:
    """What can be seen of a crawl: in Redis, read in one step, and in the table when pages have deadlines. `waiting`:
    the jobs of the queue of ticks, which is long when there are many crawls, and so is read once for all of them."""
    keys = frontier.keys
    with frontier.redis.pipeline() as pipe:
        pipe.pttl(keys.lock)
        pipe.exists(keys.cursor)
        pipe.llen(keys.results)
        pipe.zcard(keys.leases)
        pipe.zcount(keys.leases, "-inf", now)
        pipe.zrangebyscore(keys.leases, f"({now}", "+inf", 0, 1, withscores=True)
        pipe.zrange(keys.hosts, 0, 0, withscores=True)
        pipe.get(keys.mark)
        pipe.get(keys.closing)
        pipe.get(keys.tick)
        lock_ms, lined_up, results, leases, overdue, next_lease, first, raw, closing, ticked = pipe.execute()
    mark, last = Mark.read(raw), Tick.read(ticked)
    losses = [now + lock_ms / 1000 + SLACK] if lock_ms >= 0 else []
    losses += [look_at for _, look_at in next_lease]
    losses += [mark.sent_at + FRESH_SECONDS + SLACK] if mark is not None else []
    return Signs(
        locked=lock_ms != GONE,
        tick_coming=mark is not None and (mark.is_fresh(now) or mark.job in waiting()),
        results=results,
        leases=leases,
        overdue_leases=overdue,
        next_due=cast(float, first[0][1]) if first else None,
        next_expiry=queries.next_expiry(crawl.id) if has_deadlines(crawl.chosen) else None,
        closing_at=float(closing.split()[0]) if closing else None,
        paused=crawl.state != State.RUNNING,
        rewound=not lined_up or (last is not None and last.is_to_come(now)),
        next_loss=min((loss for loss in losses if loss > now), default=None),
    )
