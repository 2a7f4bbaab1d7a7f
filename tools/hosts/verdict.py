"""What the evidence of a run says: the promises of `tools.chaos`, and those that take several hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools.chaos.verdict import judge
from tools.hosts.deployed import MOST
from tools.hosts.evidence import Crawled, Run, excuses
from tools.hosts.workers import longest, too_few, too_many

STUCK_SECONDS = 35.0  # a crawl stands still for so long at most, beyond the fault
VANISHED_SECONDS = 25.0  # the crawl whose row a machine held that vanished
OTHERS_SECONDS = 20.0  # the other crawl: what the machine had in hand of it is asked for again by then
REGISTERED_SECONDS = 11.0  # 10 s, and one for the look
CLOCK_SECONDS = 5.0  # a moment on a row may be so far from the real one
TOO_FEW_SECONDS = 30.0  # fewer workers than are wanted, beyond the fault: a silent host is given up after 10 s
TOO_MANY_SECONDS = 20.0  # more: one that is asked to end has 10 s
JITTER_SECONDS = 0.02  # by which the network may shorten a gap


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


@dataclass(frozen=True)
class Verdict:
    """`faults`: a sentence for each promise that was broken. `lost`, `twice`, `early`: their number."""

    faults: tuple[str, ...]
    lost: int
    twice: int
    early: int


def judged(run: Run, promises: Promises) -> Verdict:
    verdicts = [judge(crawl.evidence, crawl.expected, batch_pages=0) for crawl in run.crawls]
    faults = [
        f"{crawl.id[:8]}: {fault}"
        for crawl, verdict in zip(run.crawls, verdicts, strict=True)
        for fault in verdict.faults
        if promises.is_calm or not fault.startswith("refetched:")
    ]
    faults += [fault for crawl in run.crawls for fault in _of_crawl(crawl, run, promises)]
    return Verdict(
        faults=(*faults, *_of_run(run, promises)),
        lost=sum(len(verdict.lost) for verdict in verdicts),
        twice=sum(len(verdict.twice) for verdict in verdicts),
        early=sum(len(verdict.early) for verdict in verdicts),
    )


def _of_crawl(crawl: Crawled, run: Run, promises: Promises) -> Iterator[str]:
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
    if promises.is_calm and crawl.delivered > 1:
        yield f"{name}: its notice was delivered {crawl.delivered} times"
    if promises.no_deaths and crawl.deaths:
        yield f"{name}: {crawl.deaths} deaths were counted and nobody died"


def _of_run(run: Run, promises: Promises) -> Iterator[str]:
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


def _of_workers(run: Run) -> Iterator[str]:
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


def missing(run: Run) -> float:
    """The longest time that fewer workers ran than were wanted and could be there, in seconds."""
    return longest(run.samples, excuses(run.faults), lambda sample: too_few(sample, MOST))


def surplus(run: Run) -> float:
    """The longest time that more workers ran than were wanted, in seconds."""
    return longest(run.samples, excuses(run.faults), too_many)
