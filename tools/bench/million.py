"""`bin/bench million`: a list of many URLs on many hosts of loopback, fetched politely; the receipt must add up."""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tools.bench import chart, ours, sites
from tools.bench.crowd import Crowd
from tools.bench.processes import cpu_seconds
from tools.bench.services import cores, free_port, own_postgresql
from tools.bench.watching import MIB, Watched, panels, rate_between, watched

MINUTES = 45  # in which a million are to be done on two cores
AT_ITS_BEST = 1_000_000


def main(chosen: Namespace) -> int:
    """1. Serve the hosts, write the list. 2. Crawl it, default settings, looked at while it runs. 3. Hold the receipt
    against what the seed says, and tell."""
    crowd = Crowd(chosen.urls, min(chosen.hosts, chosen.urls), chosen.seed, chosen.answer_after)
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        work, python = Path(name), Path(chosen.python or sys.executable)
        file = work / "urls.txt"
        file.write_text("\n".join(crowd.lines(port)) + "\n")
        with ExitStack() as services:
            server = services.enter_context(sites.served_crowd(crowd, port, work))
            url = services.enter_context(_migrated(work, python)) if chosen.postgres else None
            stack = services.enter_context(ours.stack(work / "ours", python, workers=chosen.workers, database_url=url))
            given = {"list": str(file), "options": dict(chosen.option)}
            done = watched(stack, given, chosen.every, chosen.timeout)
            served_for = cpu_seconds([server])
    wrong = differences(done.receipt, crowd.expected())
    print(told(crowd, done, served_for, wrong))
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        plain = {"urls": crowd.urls, "hosts": crowd.hosts, "cores": cores(), "wrong": wrong, **done.plain()}
        chosen.json.write_text(json.dumps(plain, indent=1) + "\n")
    if chosen.chart:
        chosen.chart.parent.mkdir(parents=True, exist_ok=True)
        chosen.chart.write_text(chart.lines(panels(done.samples)))
    is_late = crowd.urls >= AT_ITS_BEST and done.seconds > MINUTES * 60
    return 1 if wrong or (chosen.strict and is_late) else 0


@contextmanager
def _migrated(work: Path, python: Path) -> Iterator[str]:
    """A PostgreSQL server of its own, with the tables."""
    with own_postgresql(work) as url:
        ours.migrate(python, ours.environment_of(work, python, ours.NO_REDIS, url))
        yield url


def differences(receipt: Mapping[str, Any], expected: Counter[str]) -> list[str]:
    """What a receipt says otherwise than it must. A dead host's pages fail, or are skipped for want of a robots.txt."""
    skipped = sum(receipt["skipped"].values())
    heaps = receipt["fetched"] + receipt["failed"] + skipped + receipt["cancelled"]
    wrong = []
    if heaps != receipt["discovered"]:
        wrong.append(f"it does not add up: {receipt['discovered']:,} discovered, {heaps:,} accounted for")
    if receipt["discovered"] != expected.total():
        wrong.append(f"{receipt['discovered']:,} discovered, {expected.total():,} are on the list")
    if (lost := receipt["failed"] + skipped) != expected["dead"]:
        wrong.append(f"{lost:,} pages without an answer, {expected['dead']:,} are on dead hosts")
    for status in sorted({*expected, *receipt["statuses"]} - {"dead"}):
        if (found := receipt["statuses"].get(status, 0)) != expected[status]:
            wrong.append(f"{found:,} pages of status {status}, there are {expected[status]:,}")
    return wrong


def told(crowd: Crowd, done: Watched, served_for: float, wrong: list[str]) -> str:
    receipt, minutes = done.receipt, done.seconds / 60
    peak = {
        "Redis": max(sample.redis_bytes for sample in done.samples),
        "worker": max(sample.worker_bytes for sample in done.samples),
        "database": max(sample.database_bytes for sample in done.samples),
    }
    early, late = rate_between(done.samples, 0.1, 0.3), rate_between(done.samples, 0.6, 0.8)
    lines = [
        f"{crowd.urls:,} URLs on {crowd.hosts:,} hosts in {minutes:.1f} minutes: "
        f"{crowd.urls / done.seconds:,.0f} a second",
        f"receipt    {'as expected' if not wrong else 'WRONG'}: {receipt['fetched']:,} fetched, {receipt['failed']:,} "
        f"failed, {sum(receipt['skipped'].values()):,} skipped; {receipt['requests']:,} requests, "
        f"{receipt['retries']:,} retries",
        *(f"           {line}" for line in wrong),
        "at most    " + ", ".join(f"{name} {size / MIB:,.0f} MiB" for name, size in peak.items()),
    ]
    if done.cpu:
        used = done.cpu.times(1000 / crowd.urls)
        lines.append(
            f"CPU        workers {done.cpu.crawler:.0f} s, {used.crawler:.2f} ms a URL; Redis {done.cpu.redis:.0f} s, "
            f"{used.redis:.2f} ms a URL; the hosts' server {served_for:.0f} s"
        )
    if early and late:
        lines.append(f"steadiness {early:,.0f} a second from 10 to 30 %, {late:,.0f} from 60 to 80 %")
    if crowd.urls >= AT_ITS_BEST:
        lines.append(f"target     {'met' if minutes < MINUTES else 'MISSED'}: under {MINUTES} minutes")
    return "\n".join(lines)
