"""`bin/bench scale`: a simulated day of crawls, and how many workers an autoscaler keeps over it.

Nothing is requested. The functions an installation uses say how many workers are useful, and how many stay
(`core.politeness.scaling`); how fast the pages of a crawl are done is by the same assumptions: the connections and
delays of its hosts, places and CPU time of the workers.
"""

from __future__ import annotations

import json
import random
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import ceil

from crawler.core.politeness.scaling import (
    PAGE_CPU_S,
    HostWork,
    Steady,
    connections_of,
    demand,
    smoothed,
    workers_wanted,
)
from tools.bench import chart
from tools.bench.chart import Panel

DAY_S, HOUR_S = 86_400.0, 3_600.0
STEP_S = 5.0
PLACES = 256  # requests that a worker has under way (CRAWLER_WORKER_CONNECTIONS)
BATCHES = 128  # of a crawl that may be handed out: CRAWLER_MAX_BATCHES, unless set otherwise
START_S = 3.0  # from the need to a worker that works
POINTS = 480  # of each line of the chart, at most


@dataclass(frozen=True)
class DayCrawl:
    """A crawl that begins at this second of the day."""

    name: str
    begins: float
    pages: int  # in all
    hosts: int
    connections: int  # to each host, by its options
    delay: float  # seconds
    response_s: float

    def work(self, left: float) -> HostWork:
        """What it could do with so many pages left, as an installation sees it."""
        return HostWork(
            crawl=self.name,
            host=self.name,
            pages=ceil(left / self.hosts),
            connections=connections_of(self.delay, self.connections, has_answered=True),
            delay=self.delay,
            response_s=self.response_s,
            hosts=min(self.hosts, ceil(left)),
        )

    @property
    def pages_per_s(self) -> float:
        """As its hosts allow."""
        of_one = connections_of(self.delay, self.connections, has_answered=True) / self.response_s
        return self.hosts * (min(of_one, 1 / self.delay) if self.delay else of_one)


@dataclass(frozen=True)
class Moment:
    at: float  # seconds of the day
    found: int  # workers useful at this moment
    wanted: int  # workers that should run: it falls late
    running: int
    open: float  # pages


def a_day(seed: int) -> list[DayCrawl]:
    """Polite crawls of one site by day and night; by day fast ones, too, and lists of many slow hosts."""
    rng = random.Random(seed)

    def some(kind: str, number: int, first: float, last: float, **fields: tuple[float, float]) -> list[DayCrawl]:
        crawls = []
        for place in range(number):
            drawn = {name: rng.uniform(*limits) for name, limits in fields.items()}
            begins = HOUR_S * rng.uniform(first, last)
            pages, hosts = int(drawn.pop("pages")), int(drawn.pop("hosts", 1))
            crawls.append(DayCrawl(f"{kind} {place}", begins, pages, hosts, int(drawn.pop("connections", 4)), **drawn))
        return crawls

    return [
        *some("nightly", 2, 1, 3, pages=(800, 1_500), delay=(2, 4), response_s=(0.2, 0.6)),
        *some("polite", 10, 7, 19, pages=(300, 1_500), delay=(1, 4), response_s=(0.1, 0.6)),
        *some("site", 14, 8, 18, pages=(20_000, 150_000), connections=(4, 16), delay=(0, 0), response_s=(0.05, 0.4)),
        *some("list", 7, 9, 17, pages=(4e5, 2e6), hosts=(80, 400), delay=(0, 0), response_s=(0.8, 3)),
    ]


def simulated(crawls: Sequence[DayCrawl], most: int, idle_s: float) -> list[Moment]:
    """The day, step by step, with an autoscaler of 0 to `most` workers.

    1. What is useful, by the pages that are left. 2. Workers are started, of which each works START_S later, or ended.
    3. The pages that the workers do in this step.
    """
    left = {crawl: float(crawl.pages) for crawl in crawls}
    steady: Steady | None = None
    ready: list[float] = []  # when each worker begins to work
    moments = []
    for step in range(int(DAY_S / STEP_S) + 1):
        now = step * STEP_S
        active = [crawl for crawl in crawls if crawl.begins <= now and left[crawl] > 0]
        total = demand(crawl.work(left[crawl]) for crawl in active)
        found = workers_wanted(total, places=PLACES, batches=BATCHES * len(active), managers=len(active))
        steady = smoothed(steady, found, now, idle_s)
        number = min(steady.wanted, most)
        ready = [*ready[:number], *[now + START_S] * (number - len(ready))]
        moments.append(Moment(now, found, steady.wanted, len(ready), sum(left[crawl] for crawl in active)))
        done = _share(active, sum(at <= now for at in ready))
        for crawl in active:
            left[crawl] = max(0.0, left[crawl] - done * crawl.pages_per_s * STEP_S)
    return moments


def _share(active: Iterable[DayCrawl], workers: int) -> float:
    """The share of the hosts' allowed requests that these workers can send, from 0 to 1."""
    rate = sum(crawl.pages_per_s for crawl in active)
    places = sum(crawl.pages_per_s * crawl.response_s for crawl in active)
    if not rate:
        return 0.0
    return min(1.0, workers / (rate * PAGE_CPU_S), workers * PLACES / places)


def panels(moments: Sequence[Moment], most: int, grey: str = "useful at that moment") -> list[Panel]:
    return [
        Panel(
            f"Workers that run (blue), 0 to {most}; {grey} (grey)",
            _steps([(moment.at, moment.running) for moment in moments]),
            behind=_steps([(moment.at, moment.found) for moment in _thinned(moments)]),
        ),
        Panel("Open pages", tuple((moment.at, moment.open) for moment in _thinned(moments))),
    ]


def _thinned(moments: Sequence[Moment]) -> list[Moment]:
    """POINTS of them, each with the most of its time."""
    size = max(1, len(moments) // POINTS)
    parts = [moments[place : place + size] for place in range(0, len(moments), size)]
    return [
        replace(part[0], found=max(each.found for each in part), open=max(each.open for each in part)) for part in parts
    ]


def _steps(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The corners of a line that stays until it changes."""
    corners = [points[0]]
    for (_, before), (at, after) in pairwise(points):
        if after != before:
            corners += [(at, before), (at, after)]
    return (*corners, points[-1])


def summary(crawls: Sequence[DayCrawl], moments: Sequence[Moment], most: int) -> str:
    hours = sum(moment.running for moment in moments) * STEP_S / HOUR_S
    starts = sum(max(0, after.running - before.running) for before, after in pairwise(moments))
    return (
        f"{len(crawls)} crawls, {sum(crawl.pages for crawl in crawls):,} pages; {moments[-1].open:,.0f} left\n"
        f"{hours:.0f} hours of a worker, of {24 * most} with {most} all day; {starts} starts;"
        f" none for {sum(moment.running == 0 for moment in moments) * STEP_S / HOUR_S:.1f} hours"
    )


def main(chosen: Namespace) -> int:
    if chosen.measured:
        from tools.bench.scale_measured import measured  # it needs the tests' stack

        few, moments = measured(60 * chosen.measured, chosen.most, chosen.seed)
        print(f"{len(few)} crawls, {sum(crawl.pages for crawl in few):,} pages, each requested once")
        grey = "wanted"
    else:
        crawls = a_day(chosen.seed)
        moments = simulated(crawls, chosen.most, chosen.idle)
        print(summary(crawls, moments, chosen.most))
        grey = "useful at that moment"
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(moment) for moment in moments]) + "\n")
    if chosen.chart:
        chosen.chart.parent.mkdir(parents=True, exist_ok=True)
        chosen.chart.write_text(chart.lines(panels(moments, chosen.most, grey)))
    return 0
