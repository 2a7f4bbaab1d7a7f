"""Metrics of the whole installation, read from the database and Redis at each request.

Processes have no counters of their own, so any process can serve them. The counters of crawls are summed; no page rows
are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Case, Count, F, FloatField, JSONField, OuterRef, Subquery, When
from redis import Redis, RedisError

from crawler import clock
from crawler.core.errors import ServiceDown
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.core.protocol.lanes import SlotLane, slot_lanes
from crawler.frontier import metrics
from crawler.frontier.frontier import Frontier
from crawler.frontier.metrics import QueueMetrics, TickTimes
from crawler.frontier.slots import LaneSlots
from crawler.models import Crawl, Delivery, Disagreement, Page
from crawler.queueing import queues
from crawler.queueing.workers import listeners, slots_of
from crawler.reports import crawl_parts
from crawler.reports.crawl_parts import CrawlMetric
from crawler.reports.scale import Scale, scale_of

_OPEN = Page.objects.filter(crawl=OuterRef("id"), status=Page.OPEN, due_since__gte=0)  # in the words of `page_due`
_OLDEST = _OPEN.order_by("due_since").values("due_since")[:1]
_IF_RUNNING = {
    "options_if_running": Case(When(state=State.RUNNING, then=F("options")), output_field=JSONField()),
    "flow_if_running": Case(When(state=State.RUNNING, then=F("flow")), output_field=JSONField()),
    "oldest_if_running": Case(When(state=State.RUNNING, then=Subquery(_OLDEST)), output_field=FloatField()),
}
"""Those of the other crawls, which may be thousands, are not read."""


MAX_CRAWL_QUEUES = 20  # crawls that have series of their own
_NO_FLOW = ((0, 0, 0, 0, 0),)
FLOWS = ("in", "out", "retried", "dead")  # in the order of `core.protocol.flow.Moment`


@dataclass(frozen=True)
class CrawlQueue:
    """The queue of one running crawl."""

    crawl: str
    flow: Mapping[str, float]  # in, out, retried, dead -> pages since the crawl began; they never fall
    open: int  # pages
    oldest_due: float | None  # epoch seconds since when its oldest open page is due, handed out or not


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
    further: Mapping[CrawlMetric, Mapping[tuple[str, ...], int]]  # of capabilities
    running: Mapping[str, CrawlOptions] = field(repr=False)  # crawl -> its options
    queues: Sequence[CrawlQueue]  # of the running crawls with the most open pages, MAX_CRAWL_QUEUES at most


@dataclass(frozen=True)
class SlotUse:
    """The slots of a lane, and the pages that wait for one."""

    slots: int
    taken: int  # of them
    pages_waiting: int  # of running crawls


@dataclass(frozen=True)
class FromRedis:
    jobs: Mapping[str, int]  # queue -> jobs that wait
    workers: Mapping[str, int]  # queue -> workers that listen to it
    scale: Scale | None  # how many workers would be useful; None = not known which crawls run
    frontier: QueueMetrics
    ticks: TickTimes
    slots: Mapping[SlotLane, SlotUse]


def of_table() -> FromTable:
    """Raises the errors of the database."""
    crawls, pages = Counter[str](dict.fromkeys(State, 0)), Counter[str](dict.fromkeys(_counted(), 0))
    discovered = requests = size = retries = 0
    running = dict[str, CrawlOptions]()
    own = list[CrawlQueue]()
    columns = ("id", "state", "discovered", "outcomes", "requests", "bytes", "retries", "round_began_at", *_IF_RUNNING)
    facts = Crawl.objects.annotate(**_IF_RUNNING).values_list(*columns)
    for crawl, state, found, outcomes, asked, read, again, began, options, flow, oldest in facts.iterator():
        crawls[state] += 1
        pages.update(outcomes)
        discovered, requests, size, retries = discovered + found, requests + asked, size + read, retries + again
        if state == State.RUNNING:
            running[str(crawl)] = CrawlOptions.from_plain(options)
            counts = dict(zip(FLOWS, (flow or _NO_FLOW)[-1][1:], strict=True))
            due = None if oldest is None else max(oldest, began.timestamp())  # earlier rows do not say since when
            own.append(CrawlQueue(str(crawl), counts, found - sum(outcomes.values()), due))
    return FromTable(
        crawls=crawls,
        pages=pages,
        open_pages=discovered - pages.total(),
        requests=requests,
        bytes=size,
        retries=retries,
        deliveries=_deliveries(),
        disagreements=Disagreement.objects.count(),
        further=crawl_parts.read_metrics(),
        running=running,
        queues=sorted(own, key=lambda queue: (-queue.open, queue.crawl))[:MAX_CRAWL_QUEUES],
    )


def of_redis(running: Mapping[str, CrawlOptions] | None) -> FromRedis | None:
    """None when Redis does not respond. `running`: the crawls that run; None = the database does not answer."""
    try:
        redis = queues.connection()
        return FromRedis(
            jobs=queues.waiting_jobs(),
            workers=listeners(queues.CRAWL, queues.FETCH),
            scale=None if running is None else scale_of(running),
            frontier=metrics.read_queue_metrics(redis, list(running or ()), clock.epoch_seconds()),
            ticks=metrics.read_tick_times(redis),
            slots={lane: _slot_use(redis, lane, running or {}) for lane in slot_lanes()},
        )
    except (ServiceDown, RedisError):
        return None


def _slot_use(redis: Redis, lane: SlotLane, running: Mapping[str, CrawlOptions]) -> SlotUse:
    users = [crawl for crawl, options in running.items() if lane.is_chosen(options)]
    return SlotUse(
        slots=slots_of(lane, clock.epoch_seconds()),
        taken=LaneSlots(redis, lane).taken(),
        pages_waiting=sum(Frontier(redis, crawl).ready_queue.sizes()[lane.suffix] for crawl in users),
    )


def _counted() -> list[str]:
    """The outcomes that crawls count."""
    return [outcome.value for outcome in Outcome if outcome is not Outcome.EXTERNAL]


def _deliveries() -> dict[str, int]:
    none = dict.fromkeys((Delivery.PENDING, Delivery.DELIVERED, Delivery.GIVEN_UP), 0)
    found = Delivery.to_receivers().order_by().values_list("state").annotate(number=Count("id"))
    return {**none, **dict(found)}
