"""Ends the waits of a host at a user's request: all its crawls continue at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from crawler import clock
from crawler.accounts import audit
from crawler.core.protocol.completion import State
from crawler.core.urls.normalise import origins_of
from crawler.frontier.inspect import HostSnapshot, end_waits, host_snapshots, pages_of
from crawler.manager.context import context_of
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.queueing.wakeups import wake
from crawler.reports.diagnosis import moment
from crawler.reports.diagnosis_facts import robots_cache_of
from crawler.reports.host import crawls_of


@dataclass(frozen=True)
class EndedWaits:
    """Which waits were ended."""

    host: str
    had_to_wait: bool  # there was something to end
    crawls: int  # that have pages of this host, and go on


def has_pages_of(crawl: Crawl, host: str) -> bool:
    """Whether a crawl that is not over has pages of this host enqueued or handed out."""
    return not crawl.is_over and bool(pages_of(queues.connection(), host, [str(crawl.id)]))


def end_host_waits(host: str) -> EndedWaits:
    """Clear the host's Retry-After, its throttle, and an unreachable robots.txt; its pages are due at once. The
    Crawl-delay and the delays of crawls stay. Idempotent.

    The page rows do not change: if Redis loses the ready queue, the pages get their earlier due times back.
    """
    redis = queues.connection()
    now = clock.epoch_seconds()
    crawls = [crawl for crawl, _ in crawls_of(redis, host)]
    with transaction.atomic():
        before = _told(host_snapshots(redis, [host], now)[host], now)
        had_to_wait = end_waits(redis, host)
        for crawl in crawls:
            for origin in origins_of(host):
                robots_cache_of(redis, crawl).forget_unreachable(origin)
            had_to_wait |= context_of(crawl).frontier.ready_queue.make_due(host, now)
        if had_to_wait:
            audit.note("host.forgotten", kind="host", key=host[:64], name=host, before=before)
    for crawl in crawls:
        if crawl.state == State.RUNNING:
            wake(context_of(crawl).frontier, crawl.site)
    return EndedWaits(host, had_to_wait, len(crawls))


def _told(seen: HostSnapshot, now: float) -> dict[str, Any]:
    """What is cleared, for the audit log."""
    known = seen.state
    stop = {"until": moment(known.stop.until), "status": known.stop.status} if known.stop.until > now else {}
    return {**stop, **({"delay": known.throttle.delay} if known.throttle.delay else {})}
