"""How many workers would be useful now: from the pages due at each host, and the throughput of one worker."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

import msgspec

from crawler.core.politeness.host_rules import MAX_SLICE_WAIT_S, MAX_SLICES_PER_BATCH, slices_at_once

HORIZON_S = 60.0
"""Work that cannot begin within so many seconds asks for no worker. It is longer than the start of a worker (a second
or two; half a minute in a new container), so that the worker is there when the work is due. The longest Crawl-delay
that is kept is as long, so a crawl that only waits for that keeps its worker."""

WORKER_START_S = 10.0
"""Pages that are done within so many seconds ask for no further worker: it would come too late."""

PAGE_CPU_S = 0.0025
"""CPU time that a page takes of the workers, in seconds, for fetching and for storing it. `bin/bench` measured 2.1 ms
for a manual of small pages, 1.6 ms in a crawl of a million URLs, and 3 to 10 ms for pages with many links."""

UNKNOWN_RESPONSE_S = 0.1
"""The response time that is assumed of a host until it is known, in seconds."""

LOWER_AFTER_S = 120.0
"""The figure falls only when less was wanted for so many seconds (CRAWLER_WORKER_IDLE_SECONDS). With HORIZON_S this
spans a delay or a Retry-After of three minutes: for a shorter one no worker is ended and started again."""

_ROUNDING = 1e-9  # sums of floats that should be whole are not rounded up to the next number


class HostWork(msgspec.Struct, frozen=True):
    """What one crawl can do at one host within HORIZON_S."""

    crawl: str
    host: str
    pages: int  # that are due, or handed out and being fetched
    connections: int  # that the crawl may use at a time, see `connections_of`
    delay: float = 0.0  # seconds between two requests
    response_s: float | None = None  # response time in seconds; None = not known
    in_use: int = 0  # connections in use now, by all crawls
    hosts: int = 1  # that this stands for, each with these numbers: beyond some number they are not read one by one


class Demand(msgspec.Struct, frozen=True):
    """What can be done at hosts."""

    hosts: int = 0
    pages: int = 0
    connections: int = 0  # requests under way at a time, at most
    places: float = 0.0  # of workers that these requests occupy, on average
    pages_per_s: float = 0.0  # at most

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.hosts + other.hosts,
            self.pages + other.pages,
            self.connections + other.connections,
            self.places + other.places,
            self.pages_per_s + other.pages_per_s,
        )


def connections_of(delay: float, concurrency: int, *, has_answered: bool) -> int:
    """Connections to a host that are of use: one if it has not responded, or with a delay of half a second or more."""
    return min(slices_at_once(delay, concurrency), concurrency) if has_answered else 1


def demand_of(work: HostWork) -> Demand:
    """What can be done at a host.

    1. At most as many requests are under way as there are connections and pages.
    2. Pages a second: at most 1/delay; by Little's law at most connections / response time; and no more than leave
       something to do for a worker that is started now (WORKER_START_S).
    3. A page occupies a place of a worker until the response, and with a delay that its slice waits for
       (MAX_SLICE_WAIT_S) until the turn of its connection. By Little's law again: that time x pages a second.
    """
    response_s = UNKNOWN_RESPONSE_S if work.response_s is None else max(work.response_s, 0.001)
    connections = min(work.connections, max(work.pages, work.in_use))
    pages_per_s = min(connections / response_s, work.pages / WORKER_START_S)
    occupied_s = response_s
    if work.delay > 0:
        pages_per_s = min(pages_per_s, 1 / work.delay)
        if work.delay <= MAX_SLICE_WAIT_S:
            occupied_s = max(response_s, connections * work.delay)
    places = min(float(connections), occupied_s * pages_per_s)
    return Demand(
        hosts=work.hosts,
        pages=work.hosts * work.pages,
        connections=work.hosts * connections,
        places=work.hosts * places,
        pages_per_s=work.hosts * pages_per_s,
    )


def demand(works: Iterable[HostWork]) -> Demand:
    """What can be done at all hosts. The connections of a host that several crawls share count once; the strictest
    policy counts, as for a request (`frontier.host_limiter`)."""
    by_host = defaultdict[str, list[HostWork]](list)
    for work in works:
        by_host[work.host].append(work)
    return sum((demand_of(_shared(of_one)) for of_one in by_host.values()), Demand())


def _shared(works: Sequence[HostWork]) -> HostWork:
    """The work of several crawls at one host as that of one."""
    known = [work.response_s for work in works if work.response_s is not None]
    return HostWork(
        crawl=works[0].crawl,
        host=works[0].host,
        pages=sum(work.pages for work in works),
        connections=min(work.connections for work in works),
        delay=max(work.delay for work in works),
        response_s=max(known, default=None),
        in_use=max(work.in_use for work in works),
        hosts=max(work.hosts for work in works),
    )


def places_of_worker(connections: int, batches: int) -> int:
    """Requests that a worker has under way: at most its connections, and the slices of as many batches as it takes at a
    time (0 = as many as the connections allow)."""
    return min(connections, batches * MAX_SLICES_PER_BATCH) if batches else connections


def workers_wanted(total: Demand, *, places: int, batches: int, managers: int, page_cpu_s: float = PAGE_CPU_S) -> int:
    """How many workers would be useful for this demand.

    `places`: requests that a worker has under way, see `places_of_worker`. `batches`: how many may be handed out, over
    all crawls. `managers`: ticks and notice jobs that wait for a worker. `page_cpu_s`: CPU seconds a page takes; a
    worker is one thread, so it does 1 / `page_cpu_s` pages a second at most.

    1. As many as the larger of both needs takes: places for the requests, as far as batches have slices for them, and
       CPU time for the pages.
    2. At most one for each connection, and for each batch: a further one could request nothing.
    3. At least one while anything can be done, or a tick or notice waits. Any worker does both, so ticks alone ask for
       no second one.
    """
    by_places = math.ceil(min(total.places, batches * MAX_SLICES_PER_BATCH) / places - _ROUNDING)
    by_cpu = math.ceil(total.pages_per_s * page_cpu_s - _ROUNDING)
    at_least = 1 if total.connections or managers else 0
    return max(at_least, min(max(by_places, by_cpu), total.connections, batches))


class Steady(msgspec.Struct, frozen=True):
    """The figure that is shown, which does not flap. Moments are epoch seconds."""

    wanted: int
    lower_since: float | None = None  # less was wanted all the time since then; None = it is not
    highest: int = 0  # most that was wanted since then


def smoothed(known: Steady | None, wanted: int, now: float, lower_after_s: float = LOWER_AFTER_S) -> Steady:
    """The figure after `wanted` was found at `now`; `known` is the one before, None = there was none.

    It rises at once: pages wait. It falls when less was wanted for `lower_after_s`, and to the most that was wanted in
    that time: ending a worker is cheap, but so is one that idles for two minutes, and each start takes seconds.
    (Kubernetes calls this a stabilization window.)
    """
    if known is None or wanted >= known.wanted:
        return Steady(wanted)
    if known.lower_since is None or now < known.lower_since:  # the second: the clock was set back
        return Steady(known.wanted, now, wanted)
    highest = max(known.highest, wanted)
    if now - known.lower_since < lower_after_s:
        return Steady(known.wanted, known.lower_since, highest)
    return Steady(highest) if wanted == highest else Steady(highest, now, wanted)


def shares(wanted: int, ranges: Sequence[tuple[int, int]]) -> list[int]:
    """How many of the wanted workers each autoscaler keeps. `ranges`: the least and the most workers of each.

    1. Each keeps its least.
    2. Each further worker goes to the autoscaler that then has the smallest part of its most, the first of equals. So a
       machine that may run twice as many workers gets twice as many, and one worker more or less moves no other.
    """
    kept = [least for least, _ in ranges]
    next_part = [((least + 1) / most, place) for place, (least, most) in enumerate(ranges) if least < most]
    heapify(next_part)
    for _ in range(wanted - sum(kept)):
        if not next_part:
            break
        _, place = heappop(next_part)
        kept[place] += 1
        most = ranges[place][1]
        if kept[place] < most:
            heappush(next_part, ((kept[place] + 1) / most, place))
    return kept
