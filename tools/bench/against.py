"""`bin/bench --against REF`: this version of the project and another one in turn over the same sites."""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from tools.bench import ours, report, sites, tools, versions
from tools.bench.compare import circumstances, manuals_of
from tools.bench.figures import OURS, Run, cpu_ratio, ratio, summarised
from tools.bench.peers.environment import REQUIREMENTS, can_import, prepared
from tools.bench.rounds import Entrant, rounds
from tools.bench.services import Unavailable, own_postgresql, postgresql_pid
from tools.bench.sites import Served
from tools.bench.tools import POSTGRESQL, STOCK, Terms, Tool
from tools.bench.versions import Version

OTHER = "other"


def main(chosen: Namespace) -> int:
    """1. The other version. 2. Serve the sites. 3. A B A B ... 4. Medians and ratios, as far as they came. Whatever it
    makes lies in one folder, which is deleted however this ends."""
    runs, problems = list[Run](), list[str]()
    (kind,) = chosen.tools
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        work = Path(name)
        work.chmod(0o711)  # for the user under whom PostgreSQL runs
        python = _python(chosen, kind)
        requirements = REQUIREMENTS[-1 if kind == POSTGRESQL else 0]
        here = versions.this(python)
        there = versions.checked_out(chosen.against, work / "version", python, requirements)
        entrants = [_entrant(OURS, here, kind, chosen, work / "a"), _entrant(OTHER, there, kind, chosen, work / "b")]
        served = stack.enter_context(sites.served(manuals_of(chosen, problems), chosen.generated, work))
        began = time.monotonic()
        try:
            rounds(served, entrants, chosen.rounds, runs, problems, turns=False)
        except KeyboardInterrupt:
            problems.append("interrupted: these are the results so far")
        titles = {site.name: site.title for site in served}
    names = {entrant.tool.name: entrant.tool.title for entrant in entrants}
    around = {**circumstances(chosen, time.monotonic() - began), "tool": kind}
    told = report.Report(titles, summarised(runs), (), problems, around, names)
    print(report.table(told))
    print(*ratios(titles, runs), sep="\n")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(report.as_json(told, runs))
    return 1 if problems else 0


def ratios(titles: Mapping[str, str], runs: Sequence[Run]) -> Iterator[str]:
    """For each site this version's pages a second and CPU a page as a share of the other's: of the medians, and the
    smallest and the largest of the pairs, by which chance can be told from a change."""
    summaries = summarised(runs)
    for site, title in titles.items():
        rate, used = ratio(summaries, site, OTHER), cpu_ratio(summaries, site, OTHER)
        if rate is not None:
            pairs = list(_pairs(runs, site))
            yield f"{title}: {rate:.3f} x the pages/s{_range([a.rate / b.rate for a, b in pairs])}"
            shares = [a.cpu_ms.total / b.cpu_ms.total for a, b in pairs if a.cpu_ms and b.cpu_ms]
            if used is not None:
                yield f"{'':{len(title)}}  {used:.3f} x the CPU a page{_range(shares)}"


def _pairs(runs: Sequence[Run], site: str) -> Iterator[tuple[Run, Run]]:
    """This version and the other one, of the rounds that have both."""
    found = {(run.tool, run.round): run for run in runs if run.site == site}
    for (tool, number), run in found.items():
        if tool == OURS and (OTHER, number) in found:
            yield run, found[OTHER, number]


def _range(shares: Sequence[float]) -> str:
    return f" (pairs: {min(shares):.3f} to {max(shares):.3f})" if len(shares) > 1 else ""


def _entrant(name: str, version: Version, kind: str, chosen: Namespace, work: Path) -> Entrant:
    """The version as a tool that crawls with a folder, and a database, of its own each time."""
    crawl = {OURS: tools.quick, POSTGRESQL: _on_postgresql, STOCK: tools.stock}[kind]
    work.mkdir(mode=0o711)
    terms = Terms(version.python, chosen.concurrency, chosen.workers, chosen.timeout, work, root=version.root)

    def crawled(site: Served, terms: Terms, folder: Path, number: int) -> Run:
        return replace(crawl(site, terms, folder, number), tool=name)

    return Entrant(Tool(name, version.title, "", crawled), terms)  # both store the same


def _on_postgresql(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    with own_postgresql(folder) as url:
        environment = ours.environment_of(folder, terms.python, ours.NO_REDIS, url, terms.root)
        ours.migrate(terms.python, environment, terms.root)
        terms = replace(terms, postgresql=url, postgresql_pid=postgresql_pid(folder))
        return tools.own_on_postgresql(site, terms, folder, number)


def _python(chosen: Namespace, kind: str) -> Path:
    """Under which both run, unless the other version asks for other packages."""
    python = Path(chosen.python or sys.executable)
    if kind != POSTGRESQL or can_import(python, "psycopg"):
        return python
    with_driver = prepared()
    if with_driver is None:
        raise Unavailable("PostgreSQL's driver psycopg is not installed (requirements-bench.txt)")
    return with_driver
