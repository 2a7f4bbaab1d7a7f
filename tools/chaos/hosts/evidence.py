"""What a run over several hosts left behind, and which promises it kept, of crawls and of hosts."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tools.chaos.evidence import Evidence, left_in_queues, left_in_redis, recorded
from tools.chaos.hosts.scene import HostsScene, Running
from tools.chaos.hosts.site import gaps, most_at_once
from tools.chaos.hosts.units import MOST
from tools.chaos.hosts.workers import Sample, longest, too_few, too_many
from tools.chaos.scene import Struck
from tools.chaos.verdict import REFETCHED, Expected, Verdict, judge

CRASHED = "crashed"
SLOT_SECONDS = 10.0  # after which a connection that is in use has been entered again, or has ended


@dataclass(frozen=True, kw_only=True)
class CrawlEvidence(Evidence):
    """One crawl. Moments are epoch seconds by the clock of the database's host or of the site."""

    id: str
    expected: Expected
    stuck: float  # seconds, the longest time without a page or the end, beyond what excuses it
    off: float  # seconds, the largest difference between a moment on the crawl's rows and the real one

    @property
    def crashed(self) -> int:
        """Pages."""
        return sum(outcome == CRASHED for outcome, _ in self.pages.values())

    @property
    def died(self) -> int:
        """Deaths of workers that were counted against pages."""
        return sum(self.deaths.values())


@dataclass(frozen=True)
class HostsEvidence:
    """All of it."""

    crawls: Sequence[CrawlEvidence]
    faults: Sequence[Struck]
    measured: dict[str, float]
    shortest_gap: float  # seconds between two requests to one host
    most_at_once: int  # requests to one host
    most_when_known: int  # the same, but for the moments at which Redis had lost the connections in use
    seconds: float
    samples: Sequence[Sample] = ()  # of workers


def collect(scene: HostsScene, seconds: float) -> HostsEvidence:
    exchanges = [site.exchanges for site in scene.sites]
    return HostsEvidence(
        crawls=[_of_crawl(scene, crawl) for crawl in scene.crawls],
        faults=tuple(scene.struck),
        measured=dict(scene.measured),
        shortest_gap=min((gap for of_site in exchanges for gap in gaps(of_site)), default=0.0),
        most_at_once=max(most_at_once(of_site) for of_site in exchanges),
        most_when_known=max(most_at_once(of_site, _forgotten(scene.struck)) for of_site in exchanges),
        seconds=seconds,
        samples=tuple(scene.samples),
    )


def stillness(moments: Sequence[float], excused: Sequence[tuple[float, float]]) -> float:
    """The longest time between one of these moments and the next, in seconds, without the parts of it that lie within
    an excuse."""

    def beyond(began: float, ended: float) -> float:
        covered, reached = 0.0, began
        for start, end in sorted(excused):
            start, end = max(start, reached), min(end, ended)  # noqa: PLW2901 (the part of it that is new)
            if end > start:
                covered += end - start
                reached = end
        return ended - began - covered

    return max((beyond(one, next_one) for one, next_one in itertools.pairwise(sorted(moments))), default=0.0)


def excuses(faults: Sequence[Struck]) -> list[tuple[float, float]]:
    """When nobody could do anything."""
    return [(fault.began, fault.ended) for fault in faults if fault.excuses]


def _forgotten(faults: Sequence[Struck]) -> list[tuple[float, float]]:
    """When Redis did not know all connections in use; see "Hosts and politeness" in docs/protocol.md."""
    return [(fault.began, fault.ended + SLOT_SECONDS) for fault in faults if fault.kind == "redis-lost"]


def _of_crawl(scene: HostsScene, crawl: Running) -> CrawlEvidence:
    query = """SELECT extract(epoch FROM created_at)::float AS began, extract(epoch FROM finished_at)::float AS ended
        FROM crawler_crawl WHERE id = ?"""
    row = scene.postgresql.rows(query, crawl.id)[0]
    found = recorded(scene.postgresql.rows, crawl.id)
    ended = [finish.at for finish in found["finishes"]]
    moments = [crawl.began, *(closing.at for closing in found["closings"]), *(ended or [time.time()])]
    told = [delivery for site in scene.sites for delivery in site.received if delivery.crawl == str(crawl.id)]
    return CrawlEvidence(
        **found,
        id=str(crawl.id),
        received=[delivery.id for delivery in told],
        left_in_redis=left_in_redis(scene.redis, crawl.id),
        left_in_queues=left_in_queues(scene.redis, without_power=True) if scene.over else [],
        hits=Counter() if len(scene.sites) == 1 else crawl.site.hits,  # a shared site counts requests of both
        expected=crawl.expected,
        stuck=stillness(moments, excuses(scene.struck)),
        off=_off(scene, crawl, row, ended),
    )


def _off(scene: HostsScene, crawl: Running, row: dict[str, Any], ended: Sequence[float]) -> float:
    """How far the times that people are shown lie from when it was."""
    query = """SELECT extract(epoch FROM min(fetched_at))::float AS first, extract(epoch FROM max(fetched_at))::float
        AS last FROM crawler_page WHERE crawl_id = ?"""
    fetched = scene.postgresql.rows(query, crawl.id)[0]
    last = ended[-1] if ended else crawl.began
    early = [crawl.began - moment for moment in (row["began"], fetched["first"]) if moment is not None]
    late = [fetched["last"] - last] if ended and fetched["last"] is not None else []
    end = [abs(row["ended"] - last)] if ended and row["ended"] is not None else []
    return float(max(0.0, *early, *late, *end))


STUCK_SECONDS = 35.0  # a crawl stands still for so long at most, beyond the fault
VANISHED_SECONDS = 25.0  # the crawl whose row a machine held that vanished
OTHERS_SECONDS = 20.0  # the other crawl: what the machine had in hand of it is asked for again by then
REGISTERED_SECONDS = 11.0  # 10 s, and one for the look
CLOCK_SECONDS = 5.0  # a moment on a row may be so far from the real one
TOO_FEW_SECONDS = 30.0  # fewer workers than are wanted, beyond the fault: a silent host is given up after 10 s
TOO_MANY_SECONDS = 20.0  # more: one that is asked to end has 10 s
JITTER_SECONDS = 0.02  # by which the network may shorten a gap

PROMISED = "promised"  # what only several hosts show


@dataclass(frozen=True)
class Promises:
    """What a scenario promises beside that every crawl is exact."""

    is_calm: bool = False  # no page is asked for again, and each notice is delivered once
    no_deaths: bool = False
    registered: bool = False  # RQ knows the workers again in time
    delay: float | None = None  # seconds between two requests to a host
    connections: int | None = None  # to a host at a time
    vanished: bool = False
    autoscaled: bool = False  # workers come from none and go to none, as many as are wanted
    strikes: int = 0  # faults that must have been done, or nothing was shown


def judged(run: HostsEvidence, promises: Promises) -> Verdict:
    broken: dict[str, list[str]] = {}
    for crawl in run.crawls:
        for kind, sentences in judge(crawl, crawl.expected).broken.items():
            if promises.is_calm or kind != REFETCHED:
                broken.setdefault(kind, []).extend(f"{crawl.id[:8]}: {sentence}" for sentence in sentences)
    of_crawls = [fault for crawl in run.crawls for fault in _promised(crawl, run, promises)]
    return Verdict({**broken, PROMISED: [*of_crawls, *_of_run(run, promises)]})


def _promised(crawl: CrawlEvidence, run: HostsEvidence, promises: Promises) -> Iterator[str]:
    name = crawl.id[:8]
    most = STUCK_SECONDS
    if promises.vanished:
        locked = {str(fault.crawl) for fault in run.faults if fault.crawl}
        most = VANISHED_SECONDS if crawl.id in locked else OTHERS_SECONDS
    if crawl.stuck > most:
        yield f"{name}: it stood still for {crawl.stuck:.1f} s beyond the fault, {most:g} are allowed"
    if crawl.crashed:
        yield f"{name}: {crawl.crashed} pages are closed as crashed"
    if crawl.off > CLOCK_SECONDS:
        yield f"{name}: a moment on its rows is {crawl.off:.0f} s from the real one"
    if promises.is_calm and len(crawl.received) > 1:
        yield f"{name}: its notice was delivered {len(crawl.received)} times"
    if promises.no_deaths and crawl.died:
        yield f"{name}: {crawl.died} deaths were counted and nobody died"


def _of_run(run: HostsEvidence, promises: Promises) -> Iterator[str]:
    if len(run.faults) < promises.strikes:
        yield f"only {len(run.faults)} of {promises.strikes} faults could be done: nothing is shown"
    registered = run.measured.get("registered", 0.0)
    if promises.registered and registered > REGISTERED_SECONDS:
        yield f"RQ knew the workers again after {registered:.1f} s, {REGISTERED_SECONDS:g} are allowed"
    if promises.autoscaled:
        yield from _of_workers(run)
    if promises.delay is not None and run.shortest_gap < promises.delay - JITTER_SECONDS:
        yield f"two requests to a host were {run.shortest_gap:.3f} s apart, not {promises.delay:g}"
    if promises.connections is not None and run.most_when_known > promises.connections:
        yield f"{run.most_when_known} requests to a host at once, {promises.connections} are allowed"


def _of_workers(run: HostsEvidence) -> Iterator[str]:
    """Whether as many workers ran as were wanted, from the first need to the end of the last."""
    if not run.samples or run.samples[0].running:
        yield "workers ran before there was anything to do"
    if not any(sample.running for sample in run.samples):
        yield "no worker ran"
    elif run.samples[-1].running:
        yield f"{run.samples[-1].running} workers are left when nothing is to be done"
    few, many = missing(run), surplus(run)
    if few > TOO_FEW_SECONDS:
        yield f"fewer workers ran than were wanted for {few:.0f} s, {TOO_FEW_SECONDS:g} are allowed"
    if many > TOO_MANY_SECONDS:
        yield f"more workers ran than were wanted for {many:.0f} s, {TOO_MANY_SECONDS:g} are allowed"


def missing(run: HostsEvidence) -> float:
    """The longest time that fewer workers ran than were wanted and could be there, in seconds."""
    return longest(run.samples, excuses(run.faults), lambda sample: too_few(sample, MOST))


def surplus(run: HostsEvidence) -> float:
    """The longest time that more workers ran than were wanted, in seconds."""
    return longest(run.samples, excuses(run.faults), too_many)
