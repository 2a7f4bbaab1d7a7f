"""`bin/bench --profile`: the CPU time of a page by stage, as py-spy samples the workers while they crawl."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tools.bench import ours, sites
from tools.bench.compare import manuals_of
from tools.bench.ours import Failed, Worker
from tools.bench.peers import environment
from tools.bench.services import GRACE, Unavailable
from tools.bench.sites import Served
from tools.bench.tools import Terms, options_of

RATE = 500  # samples a second
ATTACH_S = 20.0  # py-spy has, until it samples

STAGES = (
    ("pack the links", ("(crawler/core/html/link_codec.py",)),
    ("read the page: guards, tree", ("(crawler/core/html/document.py", "(crawler/core/html/charsets.py")),
    ("read the page: links, title, metadata", ("(crawler/core/html/", "result_of (crawler/fetcher/page_result.py")),
    ("HTTP", ("(crawler/http/",)),
    (
        "host slot, robots.txt",
        ("(crawler/fetcher/host_slot.py", "(crawler/fetcher/robots_check.py"),
    ),
    ("report results", ("(crawler/fetcher/result_buffer.py",)),
    ("the rest of a fetch job", ("fetch (crawler/jobs.py", "(crawler/fetcher/slice.py")),
    (
        "collect: decide which links are pages",
        ("_discover (crawler/manager/collect.py", "sort_out (crawler/capabilities/traps/"),
    ),
    ("collect: rows", ("apply (crawler/storage/writer.py",)),
    ("collect: the rest", ("collect (crawler/manager/collect.py",)),
    ("dispatch", ("dispatch (crawler/manager/dispatch.py",)),
    ("the rest of a tick", ("manage (crawler/jobs.py", "_tick (crawler/fetcher/work_stealing.py")),
    ("RQ", ("Worker.work (crawler/worker.py",)),
)
"""A stack belongs to the first stage of which it holds a frame."""

Sample = tuple[str, int]


def main(chosen: Namespace) -> int:
    """Crawl each site once a round, by workers that are up; print a line for each stage."""
    problems = list[str]()
    python = environment.prepared()
    if python is None:
        raise Unavailable("py-spy could not be installed with requirements-bench.txt")
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        work = Path(name)
        terms = Terms(Path(sys.executable), chosen.concurrency, chosen.workers, chosen.timeout, work)
        for site in stack.enter_context(sites.served(manuals_of(chosen, problems), chosen.generated, work)):
            found, pages, seconds = Counter[str](), 0, 0.0
            for number in range(chosen.rounds):
                folder = work / f"{site.name}-{number}"
                stacks, crawled, used = profiled(site, terms, folder, python.parent / "py-spy")
                found += by_stage(stacks)
                pages, seconds = pages + crawled, seconds + used
            print(f"{site.title}, {pages:,} pages\n{table(found, seconds * 1000 / pages)}\n")
    print("\n".join(problems), file=sys.stderr)
    return 0


def profiled(site: Served, terms: Terms, folder: Path, py_spy: Path) -> tuple[list[Sample], int, float]:
    """The samples of one crawl, its pages, and the CPU seconds of the workers. Raises Failed."""
    ours.with_tables(terms.work / "template", folder, terms.python, terms.root)
    with ours.stack(folder, terms.python, workers=terms.workers, worker=Worker.OWN) as stack:
        found = [folder / f"{worker.pid}.raw" for worker in stack.workers]
        with ExitStack() as watched:
            for worker, file in zip(stack.workers, found, strict=True):
                watched.enter_context(sampled(worker.pid, file, py_spy))
            crawled = stack.crawl({"urls": [site.url], "options": options_of(terms)}, terms.timeout)
    if crawled["cpu"] is None:
        raise Unavailable("this system does not tell what a process uses")
    return [*samples(found)], crawled["pages"], crawled["cpu"].crawler


@contextmanager
def sampled(pid: int, file: Path, py_spy: Path) -> Iterator[None]:
    """The stacks of this process meanwhile, in this file afterwards."""
    log = file.with_suffix(".log")
    words = ["record", "--nonblocking", "-r", str(RATE), "-f", "raw", "-d", "unlimited", "-o", file, "--pid", str(pid)]
    with log.open("wb") as output:
        process = subprocess.Popen([py_spy, *words], stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + ATTACH_S
        while "Sampling process" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"py-spy cannot look at a worker; run this as root: {ours.last_words(log)}")
            time.sleep(0.02)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # upon which it writes the file
        process.wait(GRACE)


def samples(files: Iterable[Path]) -> Iterator[Sample]:
    """Stacks as py-spy writes them, "frame;frame;frame count", with how often each was met."""
    for file in files:
        for line in file.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            yield stack, int(count)


def by_stage(stacks: Iterable[Sample]) -> Counter[str]:
    """Samples of each stage; what belongs to none is a worker's start, or waiting."""
    found = Counter[str]()
    for stack, count in stacks:
        stage = next((name for name, frames in STAGES if any(frame in stack for frame in frames)), None)
        if stage is not None:
            found[stage] += count
    return found


def table(found: Counter[str], cpu_ms: float) -> str:
    """A line for each stage: its share, and milliseconds of a page. A sample is a thread that runs or could run, so on
    a busy machine only the shares can be trusted; the sum is what the system says."""
    total = found.total()
    lines = [f"{cpu_ms * count / total:6.2f} ms  {count / total:4.0%}  {name}" for name, count in found.most_common()]
    return "\n".join([*lines, f"{cpu_ms:6.2f} ms        together, of the workers"])
