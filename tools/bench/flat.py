"""`bin/bench flat`: the generated site at several sizes, and whether a page costs the same in a large crawl."""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from tools.bench import chart, ours, sites
from tools.bench.services import cores
from tools.bench.watching import MIB, Watched, panels, rate_between, watched

_ROW = "{:>10} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>10} {:>10} {:>11}"
_HEAD = (
    "pages",
    "seconds",
    "pages/s",
    "CPU ms",
    "10-30 %",
    "70-90 %",
    "Redis MiB",
    "bytes/page",
    "worker",
    "table/page",
)


def main(chosen: Namespace) -> int:
    """A crawl for each size, in the order given, each with a stack of its own."""
    python, found = Path(chosen.python or sys.executable), list[tuple[int, Watched]]()
    sizes = chosen.pages or [10_000, 1_000_000]
    for pages in sizes:
        print(f"generated site, {pages:,} pages", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            work = Path(name)
            with (
                sites.served((), pages, work) as (site,),
                ours.stack(work / "ours", python, workers=chosen.workers) as stack,
            ):
                options = {"delay": 0.0, "obey_robots": False, **dict(chosen.option)}
                given = {"urls": [site.url], "options": options}
                found.append((pages, watched(stack, given, chosen.every, chosen.timeout)))
    print("\n".join([_ROW.format(*_HEAD), *(row(pages, done) for pages, done in found)]))
    wrong = [line for pages, done in found if (line := difference(pages, done))]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        crawls = [{"pages": pages, **done.plain()} for pages, done in found]
        chosen.json.write_text(json.dumps({"cores": cores(), "crawls": crawls}, indent=1) + "\n")
    if chosen.chart:
        chosen.chart.parent.mkdir(parents=True, exist_ok=True)
        chosen.chart.write_text(chart.lines(panels(found[-1][1].samples)))
    return 1 if wrong else 0


def difference(pages: int, done: Watched) -> str | None:
    """None when every page of the site was got."""
    got = done.receipt["statuses"].get("200", 0)
    return None if got == pages else f"of {pages:,} pages {got:,} were got"


def row(pages: int, done: Watched) -> str:
    samples = done.samples
    rates = (rate_between(samples, 0.1, 0.3), rate_between(samples, 0.7, 0.9))
    redis_bytes = max(sample.redis_bytes for sample in samples)
    return _ROW.format(
        f"{pages:,}",
        f"{done.seconds:.1f}",
        f"{pages / done.seconds:,.0f}",
        "" if done.cpu is None else f"{1000 * done.cpu.total / pages:.2f}",
        *("" if rate is None else f"{rate:,.0f}" for rate in rates),
        f"{redis_bytes / MIB:.1f}",
        f"{(redis_bytes - samples[0].redis_bytes) / pages:,.0f}",
        f"{max(sample.worker_bytes for sample in samples) / MIB:.0f} MiB",
        f"{samples[-1].database_bytes / done.end['rows']:,.0f} B",
    )
