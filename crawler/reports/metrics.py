"""Metrics of the whole installation, read from the database and Redis at each request.

Processes have no counters of their own, so any process can serve them. The counters of crawls are summed; no page rows
are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count
from redis import RedisError

from crawler import clock
from crawler.core.crawl.completion import State
from crawler.core.crawl.outcomes import Outcome
from crawler.core.errors import ServiceDown
from crawler.frontier import metrics
from crawler.frontier.metrics import QueueMetrics, TickTimes
from crawler.models import Crawl, Delivery, Disagreement
from crawler.queueing import queues
from crawler.queueing.workers import listeners


@dataclass(frozen=True)
class FromTable:
    """Sums over all crawls; deleting a crawl subtracts its numbers."""

    crawls: Mapping[str, int]  # state -> crawls
    pages: Mapping[str, int]  # outcome -> pages
    open_pages: int
    requests: int
    bytes: int
    retries: int
    deliveries: Mapping[str, int]  # state -> deliveries of notices
    disagreements: int
    running: Sequence[UUID] = field(repr=False)


@dataclass(frozen=True)
class FromRedis:
    jobs: Mapping[str, int]  # queue -> jobs that wait
    workers: Mapping[str, int]  # queue -> workers that listen to it
    frontier: QueueMetrics
    ticks: TickTimes


def of_table() -> FromTable:
    """Raises the errors of the database."""
    crawls, pages = Counter[str](dict.fromkeys(State, 0)), Counter[str](dict.fromkeys(_counted(), 0))
    discovered = requests = size = retries = 0
    running = list[UUID]()
    facts = Crawl.objects.values_list("id", "state", "discovered", "outcomes", "requests", "bytes", "retries")
    for crawl, state, found, outcomes, asked, read, again in facts.iterator():
        crawls[state] += 1
        pages.update(outcomes)
        discovered, requests, size, retries = discovered + found, requests + asked, size + read, retries + again
        if state == State.RUNNING:
            running.append(crawl)
    return FromTable(
        crawls=crawls,
        pages=pages,
        open_pages=discovered - pages.total(),
        requests=requests,
        bytes=size,
        retries=retries,
        deliveries=_deliveries(),
        disagreements=Disagreement.objects.count(),
        running=running,
    )


def of_redis(running: Sequence[UUID]) -> FromRedis | None:
    """None when Redis does not answer."""
    try:
        redis = queues.connection()
        return FromRedis(
            jobs=queues.waiting_jobs(),
            workers=listeners(),
            frontier=metrics.read_queue_metrics(redis, [str(crawl) for crawl in running], clock.epoch_seconds()),
            ticks=metrics.read_tick_times(redis),
        )
    except (ServiceDown, RedisError):
        return None


def _counted() -> list[str]:
    """The outcomes that crawls count."""
    return [outcome.value for outcome in Outcome if outcome is not Outcome.EXTERNAL]


def _deliveries() -> dict[str, int]:
    none = dict.fromkeys((Delivery.PENDING, Delivery.DELIVERED, Delivery.GIVEN_UP), 0)
    found = Delivery.objects.order_by().values_list("state").annotate(number=Count("id"))
    return {**none, **dict(found)}
