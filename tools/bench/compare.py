"""`bin/bench`: rounds of all tools over all sites, one crawl after the other, and what came of them."""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from argparse import Namespace
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tools.bench import chart, ours, report, services, sites, tools
from tools.bench.figures import Run, incomplete, judged, summarised
from tools.bench.ours import Failed
from tools.bench.peers import environment
from tools.bench.rounds import Entrant, rounds
from tools.bench.services import Unavailable
from tools.bench.sites import MANUALS, Manual
from tools.bench.tools import POSTGRESQL, Terms, Tool


def main(chosen: Namespace) -> int:
    """1. What can be run here. 2. Serve the sites. 3. The rounds. 4. The report, as far as they came."""
    runs, problems = list[Run](), list[str]()
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        work = Path(name)
        python = _python(chosen, problems)
        manuals = manuals_of(chosen, problems)
        database, server = _postgresql(chosen, python, work, stack, problems)
        terms = Terms(python, chosen.concurrency, chosen.workers, chosen.timeout, work, database, server)
        entrants = _entrants(chosen, python, database, problems)
        served = stack.enter_context(sites.served(manuals, chosen.generated, work))
        began = time.monotonic()
        try:
            each = [Entrant(tool, terms) for tool in entrants]
            rounds(served, each, chosen.rounds, runs, problems, turns=True, once=chosen.once)
        except KeyboardInterrupt:
            problems.append("interrupted: these are the results so far")
        titles = {site.name: site.title for site in served}
    summaries = summarised(runs)
    results = judged(summaries)
    problems += [
        f"{tools.TITLES[few.tool]} got {few.pages:,} of {most:,} pages of the {titles[few.site]}: its rate says little"
        for few, most in incomplete(summaries)
    ]
    told = report.Report(titles, summaries, results, problems, circumstances(chosen, time.monotonic() - began))
    print(report.table(told))
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(report.as_json(told, runs))
    if chosen.chart and summaries:
        chosen.chart.parent.mkdir(parents=True, exist_ok=True)
        chosen.chart.write_text(chart.bars(report.bars(told)))
    has_missed = any(not result.is_met for result in results if not result.target.is_stretch)
    return 1 if chosen.strict and (has_missed or problems) else 0


def _python(chosen: Namespace, problems: list[str]) -> Path:
    """Under which all of them run: one with the peers, or else our own."""
    if chosen.python:
        return Path(chosen.python)
    if chosen.peers and (prepared := environment.prepared()):
        return prepared
    problems.append("the peers' environment is missing, so Scrapy and Crawlee are left out")
    return Path(sys.executable)


def manuals_of(chosen: Namespace, problems: list[str]) -> list[tuple[Manual, Path]]:
    found = []
    for manual in MANUALS:
        if manual.name not in chosen.manuals:
            continue
        try:
            found.append((manual, sites.unpacked(manual, chosen.sites or environment.BENCH / "sites")))
        except Unavailable as reason:
            problems.append(f"the {manual.title} is left out: {reason}")
    return found


def _postgresql(
    chosen: Namespace, python: Path, work: Path, stack: ExitStack, problems: list[str]
) -> tuple[str | None, int | None]:
    """The address of a database with our tables in it, and the process of its server where we started it."""
    if POSTGRESQL not in chosen.tools:
        return None, None
    try:
        if not environment.can_import(python, "psycopg"):
            raise Unavailable("its driver psycopg is not installed (requirements-bench.txt)")
        url: str = chosen.postgres or stack.enter_context(services.own_postgresql(work))
        ours.migrate(python, ours.environment_of(work, python, ours.NO_REDIS, url))
    except (Unavailable, Failed) as reason:
        problems.append(f"the row with PostgreSQL is left out: {reason}")
        return None, None
    return url, None if chosen.postgres else services.postgresql_pid(work)


def _entrants(chosen: Namespace, python: Path, database: str | None, problems: list[str]) -> list[Tool]:
    entrants = []
    for tool in tools.ALL:
        if tool.name not in chosen.tools or (tool.name == POSTGRESQL and database is None):
            continue
        reason = tools.missing(tool.name, lambda module: environment.can_import(python, module))
        if reason:
            problems.append(f"{tool.title} is left out: {reason}")
        else:
            entrants.append(tool)
    return entrants


def circumstances(chosen: Namespace, seconds: float) -> dict[str, object]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": services.cores(),
        "rounds": chosen.rounds,
        "concurrency": chosen.concurrency,
        "workers": chosen.workers,
        "seconds": round(seconds, 1),
    }
