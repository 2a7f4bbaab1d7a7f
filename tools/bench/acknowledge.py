"""`bin/bench acknowledge`: what `--ack early` saves, and what it loses, when workers are killed within a crawl.

The same slow site is crawled with each way to acknowledge, with no worker killed and with some. Requests are those that
the site got, so the ones of killed workers are among them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from crawler.core.options.queue import EARLY, LATE
from tools.bench import ours, sites
from tools.bench.generated import Site
from tools.bench.services import cores

PAGES, LATENCY_S, WORKERS, KILLED, ROUNDS = 400, 0.05, 3, (0, 1, 2), 3
_LOOK_EVERY_S = 0.25
_ROW = "{:>6} {:>8} {:>16} {:>14} {:>12} {:>18}"
_HEAD = ("ack", "killed", "requests", "pages fetched", "pages lost", "seconds")


@dataclass(frozen=True)
class Crawled:
    """One crawl of the site."""

    ack: str
    killed: int  # workers
    pages: int  # of the site
    requests: int  # that the site got
    fetched: int  # pages
    lost: int  # pages
    seconds: float  # from the start to "finished"

    @property
    def trouble(self) -> str:
        """Why this is no measurement; "" = it is one."""
        if self.fetched + self.lost != self.pages:
            return f"of {self.pages} pages {self.fetched} were fetched and {self.lost} were lost"
        return ""


def main(chosen: Namespace) -> int:
    """Each way with each number of killed workers, so many times; 1 when a crawl was no measurement."""
    found = list[Crawled]()
    print(_ROW.format(*_HEAD))
    for killed, ack in product(chosen.killed, (LATE, EARLY)):
        again = [_crawled(chosen, ack, killed) for _ in range(chosen.rounds)]
        found += again
        print(row(again), flush=True)
    wrong = [one for one in found if one.trouble]
    for one in wrong:
        print(f"{one.ack}, {one.killed} killed: {one.trouble}")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        told = {"cores": cores(), "workers": chosen.workers, "crawls": [asdict(one) for one in found]}
        chosen.json.write_text(json.dumps(told, indent=1) + "\n")
    return 1 if wrong else 0


def row(crawls: Sequence[Crawled]) -> str:
    """One line for the crawls of one kind: the median, and the least and most where they differ."""
    first = crawls[0]
    return _ROW.format(
        first.ack,
        first.killed,
        _spread([one.requests for one in crawls]),
        _spread([one.fetched for one in crawls]),
        _spread([one.lost for one in crawls]),
        _spread([round(one.seconds, 1) for one in crawls]),
    )


def _spread(values: Sequence[float]) -> str:
    least, most = min(values), max(values)
    return f"{median(values):g}" if least == most else f"{median(values):g} ({least:g}-{most:g})"


def _crawled(chosen: Namespace, ack: str, killed: int) -> Crawled:
    """A crawl whose workers are killed one after the other, at equal shares of the pages."""
    options = {"delay": 0.0, "obey_robots": False, "concurrency": 2 * chosen.workers, "ack": ack, "recursive": False}
    kills = [chosen.pages * (number + 1) // (killed + 1) for number in range(killed)]  # closed pages
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        work = Path(name)
        with (
            sites.served_slowly(chosen.pages, chosen.latency, work / "site.log") as url,
            ours.stack(work / "ours", Path(sys.executable), workers=chosen.workers) as stack,
        ):
            listed = work / "urls.txt"
            site = Site(chosen.pages)
            listed.write_text("".join(f"{url.rstrip('/')}{site.path(page)}\n" for page in range(chosen.pages)))
            given = {"list": str(listed), "options": options, "every": _LOOK_EVERY_S}
            told = _told(stack, given, kills, chosen.timeout)
        receipt, seen = told["receipt"], sites.seen_by(work / "site.log")
    lost = receipt.get("lost", 0)  # told of crawls that acknowledge early
    return Crawled(ack, killed, chosen.pages, seen.requests, receipt["fetched"], lost, told["seconds"])


def _told(stack: ours.Stack, given: dict[str, Any], kills: Sequence[int], timeout: float) -> dict[str, Any]:
    workers, left = list(stack.workers), list(kills)
    for line in stack.lines(given, timeout):
        if line.get("over"):
            return line
        while left and line["closed"] >= left[0]:
            left.pop(0)
            os.kill(workers.pop().pid, signal.SIGKILL)
    raise ours.Failed("the driver ended without a word")
