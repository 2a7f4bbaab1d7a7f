"""Finds running crawls with no sign of life and wakes them, and notices that are due. Anyone may call it (rule R7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from django.utils import timezone

from crawler import queues
from crawler.core.completion import Signs, needs_tick
from crawler.core.lifecycle import State
from crawler.engine.wake import is_coming, wake
from crawler.frontier.clock import redis_clock
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import RECONCILED
from crawler.frontier.results import FRESH_SECONDS
from crawler.models import Crawl, Delivery

EVERY_MS = 900  # whoever comes sooner than this after another has nothing to do


@dataclass(frozen=True)
class Reconciled:
    """What was found. Running crawls and pending deliveries are reasons for a watch to go on."""

    running: int  # crawls
    woken: int  # of them
    pending: int  # deliveries
    next_in: float | None  # seconds until something is due; None = nothing has a time


def reconcile() -> Reconciled | None:
    """Wake what needs waking. None when somebody else did so just now: it is cheap to call often."""
    if not queues.connection().set(RECONCILED, 1, nx=True, px=EVERY_MS):
        return None
    return survey()


def survey() -> Reconciled:
    """Look at every running crawl and every pending delivery, and wake what needs waking."""
    redis = queues.connection()
    now = redis_clock(redis)()
    crawls = list(Crawl.objects.filter(state=State.RUNNING).only("id", "start_urls"))
    woken = 0
    moments: list[float] = []
    for crawl in crawls:
        frontier = Frontier(redis, str(crawl.id))
        signs = signs_of(frontier, now)
        if needs_tick(signs, now):
            woken += wake(frontier, crawl.site)
        elif signs.next_due is not None:
            moments.append(signs.next_due)
    due = list(Delivery.objects.filter(state=Delivery.PENDING).values_list("due_at", flat=True))
    if any(moment <= timezone.now() for moment in due):
        queues.send_notify()
    moments += [moment.timestamp() for moment in due]
    next_in = max(0.0, min(moments) - now) if moments else None
    return Reconciled(running=len(crawls), woken=woken, pending=len(due), next_in=next_in)


def signs_of(frontier: Frontier, now: float) -> Signs:
    """What can be seen of a crawl in Redis, read in one step."""
    keys = frontier.keys
    with frontier.redis.pipeline() as pipe:
        pipe.exists(keys.lock)
        pipe.llen(keys.results)
        pipe.zcard(keys.leases)
        pipe.zcount(keys.leases, "-inf", now)
        pipe.zrange(keys.hosts, 0, 0, withscores=True)
        locked, results, leases, overdue, first = pipe.execute()
    mark = frontier.results.mark()
    return Signs(
        locked=bool(locked),
        tick_coming=mark is not None and (now - mark.sent_at <= FRESH_SECONDS or is_coming(mark)),
        results=results,
        leases=leases,
        overdue_leases=overdue,
        next_due=cast(float, first[0][1]) if first else None,
    )
