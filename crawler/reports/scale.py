"""How many workers would be useful now and why, for operators and autoscalers; see `core.politeness.scaling`.

The number of commands is bounded: see `frontier.workload`, which reads the largest hosts of each crawl and counts the
others. Those are taken for hosts like the one in the middle of those that were read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low
from typing import Any

from django.db.models import QuerySet
from msgspec.structs import replace
from redis import Redis

from crawler import clock, conf
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness import scaling
from crawler.core.politeness.host_rules import chosen_delay, host_delay
from crawler.core.politeness.scaling import HORIZON_S, WORKER_START_S, Demand, HostWork, connections_of
from crawler.core.protocol.completion import State
from crawler.core.protocol.lanes import FETCH, Lane, SlotLane, base_lane, lanes, slot_lanes
from crawler.core.text.quantities import count, counted
from crawler.frontier import workload
from crawler.frontier.inspect import HostSnapshot, host_snapshots
from crawler.frontier.keys import SCALE, lane_scale
from crawler.frontier.slots import LaneSlots
from crawler.frontier.workload import CrawlLoad, LaneLoad, ShownFigure
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.queueing.workers import worker_count
from crawler.reports.explanation import no_worker_for

FRESH_S = 5.0  # a figure that was found within so many seconds is shown again on pages that look each second


@dataclass(frozen=True)
class LaneScale:
    """The same of a lane with workers of its own."""

    demand: Demand  # of its pages, which are not in `Scale.total`
    running: int
    wanted: int = 0  # of a slot lane alone; it falls late, too


@dataclass(frozen=True)
class Scale:
    """The figure, and what it was made of."""

    wanted: int  # workers that would be useful; it falls late, see `core.politeness.scaling.smoothed`
    found: int  # of this moment alone
    running: int  # workers, see `queueing.workers.worker_count`
    total: Demand
    by_crawl: Mapping[str, Demand]  # of each running crawl, as if it were alone
    managers: int  # ticks and notice jobs that wait
    lanes: Mapping[Lane, LaneScale]  # those with workers of their own


def running_crawls() -> dict[str, CrawlOptions]:
    """The options of each running crawl."""
    rows = Crawl.objects.filter(state=State.RUNNING).values_list("id", "options")
    return {str(crawl): CrawlOptions.from_plain(options) for crawl, options in rows}


def scale_of(running: Mapping[str, CrawlOptions]) -> Scale:
    """The figure for these crawls: all that run. Raises the errors of Redis."""
    redis, now = queues.connection(), clock.epoch_seconds()
    loads = workload.read_workload(redis, list(running), now, now + HORIZON_S)
    works = _works(redis, loads, running, now)
    managers = max(queues.manager_jobs(), sum(load.needs_tick for load in loads))
    lane_of = {crawl: base_lane(options) for crawl, options in running.items()}
    total = _demand_in(works, lane_of, FETCH)
    by_crawl = {crawl: scaling.demand(of_one) for crawl, of_one in works.items()}
    batches = conf.max_batches() * sum(by_crawl[crawl].connections > 0 for crawl in works if lane_of[crawl] is FETCH)
    found = scaling.workers_wanted(total, places=_places(), batches=batches, managers=managers)
    return Scale(
        wanted=_steady(redis, found, now, SCALE),
        found=found,
        running=worker_count(),
        total=total,
        by_crawl=by_crawl,
        managers=managers,
        lanes={
            lane: _slots_scale(redis, lane, running, now)
            if isinstance(lane, SlotLane)
            else LaneScale(_demand_in(works, lane_of, lane), worker_count(lane.queue))
            for lane in lanes()[1:]
        },
    )


def _demand_in(works: Mapping[str, Sequence[HostWork]], lane_of: Mapping[str, Lane], lane: Lane) -> Demand:
    return scaling.demand(work for crawl, of_one in works.items() if lane_of[crawl] is lane for work in of_one)


def _slots_scale(redis: Redis, lane: SlotLane, running: Mapping[str, CrawlOptions], now: float) -> LaneScale:
    users = {crawl: options for crawl, options in running.items() if lane.is_chosen(options)}
    loads = workload.read_workload(redis, list(users), now, now + HORIZON_S, lane.suffix)
    works = [work for of_one in _works(redis, loads, users, now).values() for work in of_one]
    demand = scaling.demand(replace(work, response_s=lane.page_s) for work in works)
    wanted = _steady(redis, _found_for(lane, demand), now, lane_scale(lane))
    return LaneScale(demand, len(LaneSlots(redis, lane).workers(now)), wanted)


def _found_for(lane: SlotLane, demand: Demand) -> int:
    """Workers with enough slots for these pages. One of their batches is a page at a time."""
    return scaling.workers_wanted(demand, places=lane.slots(), batches=demand.connections, managers=0, page_cpu_s=0.0)


def _places() -> int:
    return scaling.places_of_worker(conf.worker_connections(), conf.worker_batches())


def _steady(redis: Redis, found: int, now: float, key: str) -> int:
    known = workload.shown_figure(redis, key)
    steady = scaling.smoothed(known.steady if known else None, found, now, conf.worker_idle_seconds())
    workload.store_figure(redis, ShownFigure(steady, now), key)
    return steady.wanted


def running_and_wanted(fresh_s: float = FRESH_S) -> tuple[int, int]:
    """Workers that run, and workers that would be useful, for those that ask each second: a figure that was found
    within `fresh_s` seconds is good enough. Raises the errors of Redis."""
    return worker_count(), wanted_now(fresh_s)


def wanted_now(fresh_s: float = FRESH_S) -> int:
    """Workers that would be useful; as above."""
    known = workload.shown_figure(queues.connection())
    if known is not None and abs(clock.epoch_seconds() - known.at) < fresh_s:
        return known.steady.wanted
    return scale_of(running_crawls()).wanted


# What crawls have to do, by host.


def _works(
    redis: Redis, loads: Sequence[CrawlLoad], running: Mapping[str, CrawlOptions], now: float
) -> dict[str, list[HostWork]]:
    hosts = list(dict.fromkeys(lane.host for load in loads for lane in load.lanes))
    seen = host_snapshots(redis, hosts, now) if hosts else {}
    return {load.crawl: list(_works_of(load, running[load.crawl], seen, now)) for load in loads}


def _works_of(
    load: CrawlLoad, options: CrawlOptions, seen: Mapping[str, HostSnapshot], now: float
) -> Iterator[HostWork]:
    known = list[HostWork]()
    for host in dict.fromkeys(lane.host for lane in load.lanes):
        lanes = [lane for lane in load.lanes if lane.host == host]
        known.append(_work_at(load.crawl, host, lanes, options, seen[host], now))
    yield from known
    if load.other_lanes:
        yield _other_work(load, options, [work for work in known if work.pages])


def _work_at(
    crawl: str, host: str, lanes: Sequence[LaneLoad], options: CrawlOptions, seen: HostSnapshot, now: float
) -> HostWork:
    """One host. Its pages are not due while it is stopped (Retry-After) or its delay lasts beyond the horizon. Only one
    is requested at a time after a stop, of suspects, and of a host that does not respond."""
    state = seen.state
    delay = max(_delay(options, state.crawl_delay), *(policy.delay for policy in seen.policies.values()), 0.0)
    if options.throttle:
        delay = max(delay, state.throttle.delay)
    next_at = max(state.stop.until, seen.asked_at + delay if seen.asked_at is not None and delay > 0 else 0.0)
    is_tried = all(lane.is_of_suspects or lane.is_unresponsive for lane in lanes) or state.stop.stops > 0
    fewest = min([options.concurrency, *(policy.connections for policy in seen.policies.values())])
    fewest = state.throttle.allowed(fewest) if options.throttle else fewest
    queued = sum(lane.pages for lane in lanes) if next_at <= now + HORIZON_S else 0
    return HostWork(
        crawl=crawl,
        host=host,
        pages=queued + sum(lane.pages_out for lane in lanes),
        connections=connections_of(delay, fewest, has_answered=state.has_answered and not is_tried),
        delay=delay,
        response_s=state.response_s,
        in_use=seen.connections,
    )


def _other_work(load: CrawlLoad, options: CrawlOptions, known: Sequence[HostWork]) -> HostWork:
    """The hosts that were counted only. Those that were read are the largest: these have the pages that are left,
    and no more than those."""
    times = [work.response_s for work in known if work.response_s is not None]
    pages = median_low(work.pages for work in known) if known else 1
    if load.other_pages is not None:
        pages = min(pages, max(1, load.other_pages // load.other_lanes))
    return HostWork(
        crawl=load.crawl,
        host=f"others of {load.crawl}",
        pages=pages,
        connections=median_low(work.connections for work in known) if known else 1,
        delay=_delay(options, None),
        response_s=median(times) if times else None,
        hosts=load.other_lanes,
    )


def _delay(options: CrawlOptions, crawl_delay: float | None) -> float:
    chosen = chosen_delay(options.delay, options.per_minute)
    return host_delay(chosen, crawl_delay) if options.obey_robots else chosen


# As users read it.


def plain(scale: Scale, visible: QuerySet[Crawl]) -> dict[str, Any]:
    """`wanted` and `running`, the same of each slot lane, and `reasons`: a line for each running crawl among the
    `visible` ones, those that could use the most connections first, one for all others, one for the sum, and one for
    each lane with workers of its own."""
    sites = {str(crawl.id): crawl.site for crawl in visible.filter(pk__in=list(scale.by_crawl))}
    return {
        "wanted": scale.wanted,
        "running": scale.running,
        **{f"{lane.name}s_wanted": scale.lanes[lane].wanted for lane in slot_lanes()},
        **{f"{lane.name}s_running": scale.lanes[lane].running for lane in slot_lanes()},
        "reasons": list(_reasons(scale, sites)),
    }


def text(found: Mapping[str, Any]) -> str:
    """The same for a terminal."""
    lines = [of_useful_workers(found["running"], found["wanted"])]
    for name in (lane.name for lane in slot_lanes()):
        if found[f"{name}s_wanted"] or found[f"{name}s_running"]:
            lines.append(of_useful_workers(found[f"{name}s_running"], found[f"{name}s_wanted"], f"{name} worker"))
    return "".join(f"{line}\n" for line in (*lines, *found["reasons"]))


def of_useful_workers(running: int, wanted: int, kind: str = "worker") -> str:
    """How many workers run, and how many would be useful, in one sentence."""
    if not wanted:
        return f"No work for a {kind} now; {counted(running, kind)} {'is' if running == 1 else 'are'} ready."
    if running > wanted:
        return f"{counted(running, kind)} run; {count(wanted)} would be enough."
    return f"{count(running)} of {counted(wanted, f'useful {kind}')} {'runs' if running == 1 else 'run'}."


def _reasons(scale: Scale, sites: Mapping[str, str]) -> Iterator[str]:
    by_size = sorted(scale.by_crawl.items(), key=lambda item: (-item[1].connections, item[0]))
    for crawl, demand in by_size:
        if crawl in sites:
            yield f"Crawl {crawl} ({sites[crawl]}): {_can_use(demand)}."
    if others := [demand for crawl, demand in by_size if crawl not in sites]:
        yield f"{counted(len(others), 'other crawl')}: {_can_use(_sum(others))}."
    yield from _in_all(scale)


def _in_all(scale: Scale) -> Iterator[str]:
    if scale.total.connections:
        yield (
            f"In all {_can_use(scale.total)}: with {count(_places())} requests at a time and"
            f" {scaling.PAGE_CPU_S * 1000:g} ms of CPU a page in each, {counted(scale.found, 'worker')} can do it."
        )
    elif scale.managers:
        yield "A tick or a notice waits for a worker."
    elif not any(of_lane.demand.connections for of_lane in scale.lanes.values()):
        yield f"Nothing is due within {HORIZON_S:g} seconds."
    for lane, of_lane in scale.lanes.items():
        if of_lane.demand.connections:
            yield _in_lane(lane, of_lane.demand, of_lane.running)
    if scale.wanted > scale.found:
        yield f"{counted(scale.wanted, 'worker')} had work in the last {conf.worker_idle_seconds():g} seconds."


def _in_lane(lane: Lane, demand: Demand, running: int) -> str:
    if isinstance(lane, SlotLane):
        places, enough = counted(lane.slots(), "place"), counted(_found_for(lane, demand), f"{lane.name} worker")
        return f"In {lane.name}s {_can_use(demand)}: with {places} each, {enough} can do it."
    if not running:
        return no_worker_for(lane, demand.pages)
    run = f"{counted(running, f'{lane.name} worker')} {'runs' if running == 1 else 'run'}"
    return f"Through {lane.name} {_can_use(demand)}: {run}."


def _can_use(demand: Demand) -> str:
    if not demand.connections:
        return "no page is due"
    connections, hosts = counted(demand.connections, "connection"), counted(demand.hosts, "host")
    soon = count(math.ceil(round(demand.pages_per_s * WORKER_START_S, 6)))
    pages = counted(demand.pages, "page")
    return f"{connections} to {hosts}, {pages} due, {soon} of them within {WORKER_START_S:g} seconds"


def _sum(demands: Iterable[Demand]) -> Demand:
    return sum(demands, Demand())
