"""Watches one crawl of ours while it runs: how far it is, and what it takes of Redis, memory and the database."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, cast

import redis

from tools.bench.chart import Panel
from tools.bench.figures import Cpu
from tools.bench.ours import Failed, Stack
from tools.bench.processes import resident

QUEUES = ("rq:queue:crawl", "rq:queue:fetch")
MIB = 1024 * 1024


@dataclass(frozen=True)
class Sample:
    """One look. Numbers are of that moment, not since the one before."""

    at: float  # seconds since the start row
    discovered: int
    closed: int
    requests: int
    jobs: int  # in RQ's queues
    redis_bytes: int  # used_memory
    worker_bytes: int  # resident, of the largest worker
    database_bytes: int

    @property
    def open(self) -> int:
        return self.discovered - self.closed


@dataclass(frozen=True)
class Watched:
    samples: Sequence[Sample]
    end: Mapping[str, Any]  # what the driver said last, see `benchmarks.driver`
    cpu: Cpu | None  # seconds; None = this system does not tell

    @property
    def seconds(self) -> float:
        return float(self.end["seconds"])

    @property
    def receipt(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self.end["receipt"])

    def plain(self) -> dict[str, Any]:
        used = asdict(self.cpu) if self.cpu else None
        return {**self.end, "cpu": used, "samples": [asdict(one) for one in self.samples]}


def watched(stack: Stack, given: Mapping[str, Any], every: float, timeout: float) -> Watched:
    """One crawl, looked at so often (seconds)."""
    samples, end = list[Sample](), None
    before = stack.cpu()
    with redis.Redis.from_url(stack.redis_url) as client:
        for line in stack.lines({**given, "every": every}, timeout):
            samples.append(_sample(line, client, stack))
            _show(samples)
            end = line if line.get("over") else end
    if end is None:
        raise Failed("the driver ended without a word")
    used = stack.cpu()
    return Watched(samples, end, used.minus(before) if used and before else None)


def rates(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """Pages closed a second between each two looks, at the later of them."""
    pairs = pairwise(samples)
    return [
        (late.at, (late.closed - early.closed) / (late.at - early.at)) for early, late in pairs if late.at > early.at
    ]


def rate_between(samples: Sequence[Sample], first: float, last: float) -> float | None:
    """Pages a second while the closed ones went from one share of all to another; None when too few looks were had."""
    total = samples[-1].closed if samples else 0
    within = [sample for sample in samples if first * total <= sample.closed <= last * total]
    if len(within) < 2 or within[-1].at <= within[0].at:
        return None
    return (within[-1].closed - within[0].closed) / (within[-1].at - within[0].at)


def panels(samples: Sequence[Sample]) -> list[Panel]:
    def over_time(title: str, values: Iterable[float]) -> Panel:
        return Panel(title, tuple(zip((sample.at for sample in samples), values, strict=True)))

    return [
        Panel("Pages closed a second", tuple(rates(samples))),
        over_time("Open pages", (sample.open for sample in samples)),
        over_time("Jobs in RQ's queues", (sample.jobs for sample in samples)),
        over_time("Memory of Redis, MiB", (sample.redis_bytes / MIB for sample in samples)),
        over_time("Memory of the largest worker, MiB", (sample.worker_bytes / MIB for sample in samples)),
    ]


def _sample(line: Mapping[str, Any], client: redis.Redis, stack: Stack) -> Sample:
    return Sample(
        at=line["at"],
        discovered=line["discovered"],
        closed=line["closed"],
        requests=line["requests"],
        jobs=sum(int(client.llen(queue)) for queue in QUEUES),
        redis_bytes=int(client.info("memory")["used_memory"]),
        worker_bytes=max((resident(worker.pid) for worker in stack.workers), default=0),
        database_bytes=line["database_bytes"],
    )


def _show(samples: Sequence[Sample]) -> None:
    last = samples[-1]
    rate = rates(samples[-2:])
    told = f"{last.at:7.1f} s  {last.closed:>9,} of {last.discovered:,}"
    told += f"  {rate[0][1]:,.0f}/s" if rate else ""
    told += f"  Redis {last.redis_bytes / MIB:.1f} MiB, worker {last.worker_bytes / MIB:.0f} MiB, {last.jobs} jobs"
    print(told, file=sys.stderr, flush=True)
