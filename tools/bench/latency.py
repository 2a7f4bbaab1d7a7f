"""`bin/bench latency`: a site that takes its time for each answer, and how near to the best possible a crawl comes.

The best possible: as many requests under way as connections are allowed, from the first request to the last answer.
Both are of the server's clock, so that what a crawl does before and after them does not count.
A crawl can only request pages that it has found: what the links of the site allow is less than that where they are few.
"""

from __future__ import annotations

import heapq
import json
import sys
import tempfile
from argparse import Namespace
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from tools.bench import ours, sites
from tools.bench.figures import Cpu
from tools.bench.generated import Site
from tools.bench.services import cores
from tools.bench.serving import Seen

PAGES, CONNECTIONS, SECONDS = (400, 1_600, 6_400), (4, 16, 64), 0.1
_ROW = "{:>8} {:>12} {:>10} {:>10} {:>14} {:>16} {:>16} {:>12}"
_HEAD = (
    *("pages", "connections", "seconds", "at best", "% of the best"),
    *("% links allow", "most at a time", "CPU ms/page"),
)


@dataclass(frozen=True)
class Crawled:
    """One crawl of the site."""

    pages: int  # of the site
    connections: int
    latency: float  # seconds of each answer
    fetched: int  # pages with status 200
    cpu: Cpu | None  # seconds; None = this system does not tell
    seen: Seen

    @property
    def seconds(self) -> float:
        """From the first request to the last answer."""
        return self.seen.last - self.seen.first

    @property
    def best(self) -> float:
        """Seconds with all connections busy all the time."""
        return self.pages * self.latency / self.connections

    @property
    def percent(self) -> float:
        """Of the best possible: 100 = no connection was ever idle."""
        return 100 * self.best / self.seconds

    @property
    def trouble(self) -> str:
        """Why this is no measurement of that; "" = it is one."""
        if self.fetched != self.pages:
            return f"of {self.pages:,} pages {self.fetched:,} were got"
        if self.seen.most_waiting > self.connections:
            return f"{self.seen.most_waiting} requests at a time over {self.connections} connections"
        return ""


def main(chosen: Namespace) -> int:
    """Each size with each number of connections, so many times; 1 when a crawl was no measurement."""
    found = list[Crawled]()
    print(_ROW.format(*_HEAD))
    try:
        for pages, connections in product(chosen.pages, chosen.connections):
            again = list(_crawls(chosen, pages, connections))
            found += again
            print(row(again), flush=True)
    except KeyboardInterrupt:
        print("interrupted: these are the results so far", file=sys.stderr)
    wrong = [one for one in found if one.trouble]
    for one in wrong:
        print(f"{one.pages:,} pages, {one.connections} connections: {one.trouble}")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        told = {"cores": cores(), "workers": chosen.workers, "crawls": [_plain(one) for one in found]}
        chosen.json.write_text(json.dumps(told, indent=1) + "\n")
    return 1 if wrong else 0


def row(crawls: Sequence[Crawled]) -> str:
    """One line for all crawls of one size with one number of connections: medians."""
    first, used = crawls[0], [one.cpu.total / one.pages for one in crawls if one.cpu]
    least = by_links(first.pages, first.connections) * first.latency
    return _ROW.format(
        f"{first.pages:,}",
        first.connections,
        f"{median(one.seconds for one in crawls):.2f}",
        f"{first.best:.2f}",
        f"{median(one.percent for one in crawls):.0f} %",
        f"{100 * least / median(one.seconds for one in crawls):.0f} %",
        max(one.seen.most_waiting for one in crawls),
        f"{1000 * median(used):.2f}" if used else "",
    )


def by_links(pages: int, connections: int) -> float:
    """Response times that a crawl takes at least, if a free connection requests the next page found at once."""
    site, found, ends, now = Site(pages), {0: None}, list[tuple[float, int]](), 0.0
    wanted = deque(found)
    while wanted or ends:
        while wanted and len(ends) < connections:
            heapq.heappush(ends, (now + 1.0, wanted.popleft()))
        now, page = heapq.heappop(ends)
        new = dict.fromkeys(link for link in site.links(page) if link not in found)
        wanted.extend(new)
        found |= new
    return now


def _crawls(chosen: Namespace, pages: int, connections: int) -> Iterator[Crawled]:
    python = Path(chosen.python or sys.executable)
    options = {"delay": 0.0, "obey_robots": False, "concurrency": connections, **dict(chosen.option)}
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            work = Path(name)
            with (
                sites.served_slowly(pages, chosen.latency, work / "site.log") as url,
                ours.stack(work / "ours", python, workers=chosen.workers) as stack,
            ):
                told = stack.crawl({"urls": [url], "options": options}, chosen.timeout)
            fetched = told["receipt"]["statuses"].get("200", 0)
            seen = sites.seen_by(work / "site.log")
            yield Crawled(pages, connections, chosen.latency, fetched, told["cpu"], seen)


def _plain(one: Crawled) -> dict[str, Any]:
    return {**asdict(one), "seconds": one.seconds, "best": one.best, "percent": round(one.percent, 1)}
