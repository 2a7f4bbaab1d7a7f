"""`bin/bench render`: a single-page application in a browser, by this project and by its peers in turn.

All have the same Chromium, show as many pages at a time, and take a page as ready when nothing was requested for half a
second: what Playwright calls `networkidle`. At `load`, which peers wait for by themselves, a page may lack its data.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from crawler.capabilities.browser.install import find
from crawler.settings.environment import ROOT
from tools.bench import ours, processes
from tools.bench.figures import OURS
from tools.bench.ours import Failed, Worker
from tools.bench.peers import environment
from tools.bench.services import Unavailable, cores
from tools.bench.usage import Usage

PAGES, PLACES, WORKERS, ROUNDS = 200, 6, 2, 3
PEERS = {"crawlee": "crawlee_browser", "scrapy": "scrapy_browser"}
TITLES = {OURS: "Site Crawler", "crawlee": "Crawlee (Playwright)", "scrapy": "scrapy-playwright"}
NEEDS = {"crawlee": "crawlee.crawlers, playwright", "scrapy": "scrapy_playwright"}
MB = 2**20
_ROW = "{:<22} {:>12} {:>9} {:>9} {:>16} {:>14} {:>9}"
_HEAD = ("", "pages found", "seconds", "pages/s", "CPU s a page", "MB a place", "ours is")


@dataclass(frozen=True)
class Rendered:
    """One crawl of the site."""

    tool: str
    round: int
    pages: int  # found with status 200
    seconds: float
    cpu_seconds: float | None  # of the tool, its browsers and all else it needs; None = this system does not tell
    peak_bytes: int  # of the same

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds

    @property
    def cpu_a_page(self) -> float:
        """Seconds."""
        return (self.cpu_seconds or 0.0) / max(1, self.pages)


def main(chosen: Namespace) -> int:
    """Rounds of all tools, one crawl after the other; 1 if ours did not find every page."""
    chromium = find(chosen.chromium)
    if chromium is None:
        raise Unavailable("there is no Chromium here: python -m crawler.capabilities.browser.install installs one")
    python, tools = _python_and_tools(chosen)
    found = list[Rendered]()
    try:
        for number in range(1, chosen.rounds + 1):
            shift = (number - 1) % len(tools)
            for tool in (*tools[shift:], *tools[:shift]):
                found += _measured(tool, chosen, python, chromium, number)
    except KeyboardInterrupt:
        print("interrupted: these are the results so far", file=sys.stderr)
    print(table(found, chosen.pages, chosen.places))
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        told = {"cores": cores(), "chromium": str(chromium), "pages": chosen.pages, "places": chosen.places}
        chosen.json.write_text(json.dumps({**told, "crawls": [asdict(one) for one in found]}, indent=1) + "\n")
    mine = [one for one in found if one.tool == OURS]
    return 0 if (mine or OURS not in tools) and all(one.pages == chosen.pages for one in mine) else 1


def table(found: Sequence[Rendered], pages: int, places: int) -> str:
    """Medians of the crawls of each tool, and how many times as many pages a second ours renders."""
    by_tool = {tool: [one for one in found if one.tool == tool] for tool in TITLES}
    rates = {tool: median(one.rate for one in crawls) for tool, crawls in by_tool.items() if crawls}
    lines = [_ROW.format(*_HEAD)]
    for tool, rate in rates.items():
        crawls = by_tool[tool]
        times = f"{rates[OURS] / rate:.1f} x" if OURS in rates and tool != OURS else ""
        lines.append(
            _ROW.format(
                TITLES[tool],
                f"{min(one.pages for one in crawls)} of {pages}",
                f"{median(one.seconds for one in crawls):.1f}",
                f"{rate:.2f}",
                f"{median(one.cpu_a_page for one in crawls):.2f}",
                f"{median(one.peak_bytes for one in crawls) / MB / places:.0f}",
                times,
            ).rstrip()
        )
    return "\n".join(lines)


def places_of(places: int, workers: int) -> list[int]:
    """Of each browser worker, so that all of them together have so many."""
    return [share for number in range(workers) if (share := places // workers + (number < places % workers))]


def _python_and_tools(chosen: Namespace) -> tuple[Path, list[str]]:
    """Under which all run, and those that can be run under it."""
    peers = [tool for tool in chosen.tools if tool in PEERS]
    python = Path(chosen.python) if chosen.python else (environment.prepared() if peers else None)
    if python is None:
        return Path(sys.executable), [tool for tool in chosen.tools if tool not in PEERS]
    missing = [tool for tool in peers if not environment.can_import(python, NEEDS[tool])]
    for tool in missing:
        print(f"{TITLES[tool]} is left out: it is not installed (requirements-bench.txt)", file=sys.stderr)
    return python, [tool for tool in chosen.tools if tool not in missing]


def _measured(tool: str, chosen: Namespace, python: Path, chromium: Path, number: int) -> Iterator[Rendered]:
    print(f"round {number} of {chosen.rounds}: {TITLES[tool]}", end=" ... ", file=sys.stderr, flush=True)
    crawl: Callable[..., Rendered] = _own if tool == OURS else _peer
    with tempfile.TemporaryDirectory(prefix="bench-") as name, _served(chosen.pages) as url:
        try:
            one = crawl(tool, url, chosen, python, chromium, number, Path(name))
        except Failed as failure:
            print(f"failed: {failure}", file=sys.stderr, flush=True)
            return
    print(f"{one.pages} pages in {one.seconds:.1f} s", file=sys.stderr, flush=True)
    yield one


def _own(tool: str, url: str, chosen: Namespace, python: Path, chromium: Path, number: int, folder: Path) -> Rendered:
    """With the workers up, and their browsers started."""
    options = {"delay": 0.0, "obey_robots": False, "concurrency": chosen.places, "render": "always"}
    settings = {
        "CRAWLER_CHROMIUM": str(chromium),
        "CRAWLER_BROWSER_CONTEXT": chosen.context,
        "CRAWLER_BROWSER_CLOCK": chosen.clock,
        "CRAWLER_CHROMIUM_PAGES": str(chosen.chromium_pages),
    }
    with ours.stack(folder, python, workers=1, settings=settings) as stack:
        pids = [*(worker.pid for worker in stack.workers), stack.redis_pid]
        for places in places_of(chosen.places, chosen.workers):
            pids.append(stack.join(Worker.BROWSER, {"CRAWLER_BROWSER_PLACES": str(places)}))
        with Usage(lambda: [*pids, *processes.adopted("chrom")]) as usage:
            told = stack.crawl({"urls": [url], "options": options, "must_be_empty": True}, chosen.timeout)
    return Rendered(tool, number, told["pages"], told["seconds"], _if_told(usage.cpu_seconds), usage.peak_bytes)


def _peer(tool: str, url: str, chosen: Namespace, python: Path, chromium: Path, number: int, folder: Path) -> Rendered:
    """Its browser is started within its time: it starts one, and ours a new one after some pages."""
    log = folder / "peer.log"
    module = f"tools.bench.peers.{PEERS[tool]}"
    words = [url, str(chosen.places), str(chromium), str(folder / "pages.jsonl")]
    variables: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = ours.run([str(python), "-P", "-m", module, *words], log, variables, chosen.timeout)
    if ended.code:
        raise Failed(ours.last_words(log))
    told = json.loads(ours.last_words(log))
    return Rendered(tool, number, told["pages"], told["seconds"], _if_told(told["cpu_seconds"]), told["peak_bytes"])


def _if_told(seconds: float) -> float | None:
    return seconds if processes.ARE_TOLD else None


@contextmanager
def _served(pages: int) -> Iterator[str]:
    """The site, by a process of its own."""
    command = [sys.executable, "-m", "tests.browser_sites", "react", str(pages)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as site:
        assert site.stdout is not None
        try:
            yield site.stdout.readline().split()[0]
        finally:
            site.terminate()
