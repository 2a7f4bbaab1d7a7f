"""Finds running crawls without a sign of life, and wakes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import itemgetter
from typing import cast

from redis import Redis

from crawler.core.protocol.completion import Liveness, State, needs_tick
from crawler.core.protocol.lanes import slot_lanes
from crawler.frontier import capacity
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.results import MARK_FRESH_S, Mark, TickEnd
from crawler.frontier.slots import LaneSlots
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.queueing.duties import DutyResult, Scan
from crawler.queueing.wakeups import wake
from crawler.queueing.workers import slots_of
from crawler.storage import queries

NO_SUCH_KEY = -2  # what PTTL answers where there is no key
EXPIRY_SLACK_S = 0.002  # added when waiting for a key to expire, so as not to come in the same millisecond
MS_PER_S = 1000


def wake_stopped(scan: Scan) -> DutyResult:
    """Send a tick for each crawl that needs one. While Redis has no room, none is sent."""
    woken, moments, now = 0, list[float](), scan.now
    is_resting = capacity.is_backing_off(scan.redis)
    waiting = cache(partial(queues.queued, queues.CRAWL))
    expiries = queries.next_expiries() if scan.crawls else {}
    for crawl in scan.crawls:
        if crawl.state == State.LOADING:
            continue  # nothing of it is in Redis yet
        frontier = Frontier(scan.redis, str(crawl.id))
        if not is_resting:
            sent, losses = _wake_other_collectors(crawl, scan.redis, now, waiting)
            woken += sent
            moments += losses
        signs = read_liveness(crawl, frontier, now, waiting, expiries.get(crawl.id))
        if needs_tick(signs, now) and not is_resting:
            woken += wake(frontier, crawl.site)
        else:
            next_moment = signs.next_moment(now)
            held_until = crawl.held_until.timestamp() if crawl.held_until is not None else None
            moments += [moment for moment in (next_moment, held_until) if moment is not None]
    return DutyResult(moments, woken=woken)


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
