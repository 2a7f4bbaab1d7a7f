"""Knows what a row of runs says: medians, spread, ratios, and whether a target is met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

OURS = "ours"


@dataclass(frozen=True)
class Cpu:
    """CPU time by who used it, all in one unit."""

    crawler: float  # our workers; a peer's process, and what it started
    redis: float = 0.0
    database: float = 0.0  # its server's processes; SQLite works within the workers

    @property
    def total(self) -> float:
        return self.crawler + self.redis + self.database

    def minus(self, other: Cpu) -> Cpu:
        return Cpu(self.crawler - other.crawler, self.redis - other.redis, self.database - other.database)

    def times(self, factor: float) -> Cpu:
        return Cpu(self.crawler * factor, self.redis * factor, self.database * factor)


@dataclass(frozen=True)
class Run:
    """One tool over one site, once."""

    site: str
    tool: str
    round: int
    seconds: float  # from the start of the crawl to its end
    pages: int  # HTML pages it got
    links: int | None = None  # links it stored; None = it stores none
    process_seconds: float | None = None  # from the start of the program to its exit; None = not measured
    cpu: Cpu | None = None  # seconds, of the crawl; None = this system does not tell

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds

    @property
    def cpu_ms(self) -> Cpu | None:
        """Milliseconds a page."""
        return None if self.cpu is None or not self.pages else self.cpu.times(1000 / self.pages)


@dataclass(frozen=True)
class Summary:
    """All runs of one tool over one site."""

    site: str
    tool: str
    runs: int
    pages: int  # the median, should they differ
    links: int | None
    seconds: float  # the median
    fastest: float
    slowest: float
    rate: float  # pages a second, the median of the runs
    process_seconds: float | None
    cpu_ms: Cpu | None  # a page, of each part the median
    cpu_ms_total: float | None  # the median of the sums

    @property
    def spread(self) -> float:
        """How far fastest and slowest lie apart, as a share of the median."""
        return (self.slowest - self.fastest) / self.seconds


@dataclass(frozen=True)
class Target:
    """We are to be at least so many times as fast as a peer on a site."""

    site: str
    peer: str
    times: float
    is_stretch: bool = False


@dataclass(frozen=True)
class Judged:
    target: Target
    ratio: float

    @property
    def is_met(self) -> bool:
        return self.ratio >= self.target.times


TARGETS = (
    Target("postgresql", "scrapy", 6),
    Target("postgresql", "crawlee", 3),
    Target("python", "scrapy", 20),
    Target("python", "crawlee", 10),
    Target("python", "wget", 2),
    Target("postgresql", "wget", 1, is_stretch=True),
)


def summarised(runs: Iterable[Run]) -> list[Summary]:
    """One summary for each site and tool, in the order in which they were first met."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.site, run.tool), []).append(run)
    return [_summary(group) for group in groups.values()]


def ratio(summaries: Sequence[Summary], site: str, peer: str, ours: str = OURS) -> float | None:
    """How many times as many pages a second we do as a peer; None when one of the two was not run there."""
    rates = {summary.tool: summary.rate for summary in summaries if summary.site == site}
    return rates[ours] / rates[peer] if ours in rates and peer in rates else None


def cpu_ratio(summaries: Sequence[Summary], site: str, peer: str, ours: str = OURS) -> float | None:
    """How many times as much CPU time a page we take as a peer; None when one of the two is not known."""
    used = {summary.tool: summary.cpu_ms_total for summary in summaries if summary.site == site}
    mine, theirs = used.get(ours), used.get(peer)
    return mine / theirs if mine is not None and theirs else None


def judged(summaries: Sequence[Summary], targets: Iterable[Target] = TARGETS) -> list[Judged]:
    """The targets these runs can tell of."""
    found = ((target, ratio(summaries, target.site, target.peer)) for target in targets)
    return [Judged(target, times) for target, times in found if times is not None]


def incomplete(summaries: Sequence[Summary], ours: str = OURS) -> list[tuple[Summary, int]]:
    """Those that got less than nine tenths of the pages we got, which is how many: their rates say little."""
    most = {summary.site: summary.pages for summary in summaries if summary.tool == ours}
    return [(each, most[each.site]) for each in summaries if each.pages < 0.9 * most.get(each.site, 0)]


def _summary(runs: Sequence[Run]) -> Summary:
    seconds = [run.seconds for run in runs]
    processes = [run.process_seconds for run in runs if run.process_seconds is not None]
    links = [run.links for run in runs if run.links is not None]
    used = [run.cpu_ms for run in runs if run.cpu_ms is not None]
    return Summary(
        site=runs[0].site,
        tool=runs[0].tool,
        runs=len(runs),
        pages=round(median(run.pages for run in runs)),
        links=round(median(links)) if links else None,
        seconds=median(seconds),
        fastest=min(seconds),
        slowest=max(seconds),
        rate=median(run.rate for run in runs),
        process_seconds=median(processes) if processes else None,
        cpu_ms=_middle(used) if used else None,
        cpu_ms_total=median(one.total for one in used) if used else None,
    )


def _middle(used: Sequence[Cpu]) -> Cpu:
    return Cpu(
        median(one.crawler for one in used), median(one.redis for one in used), median(one.database for one in used)
    )
