"""Knows in which order crawls are measured: one at a time, round after round, each in a folder of its own."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.bench.figures import Run
from tools.bench.ours import Failed
from tools.bench.sites import Served
from tools.bench.tools import Terms, Tool


class Entrant(NamedTuple):
    """A tool, and the terms on which it crawls."""

    tool: Tool
    terms: Terms


def rounds(
    served: Sequence[Served],
    entrants: Sequence[Entrant],
    count: int,
    runs: list[Run],
    problems: list[str],
    *,
    turns: bool,
    once: Collection[str] = (),
) -> None:
    """Each round has every entrant on every site; what came of it goes to `runs` and `problems` at once, so that it is
    there if this is interrupted. An entrant that failed on a site is left out there from then on.

    `turns`: each round begins with another one, so that none has always the same before it. `once`: names of sites that
    only the first round has.
    """
    failed = set[tuple[str, str]]()
    for number in range(1, count + 1):
        shift = (number - 1) % len(entrants) if turns else 0
        for site in served if number == 1 else [site for site in served if site.name not in once]:
            for tool, terms in (*entrants[shift:], *entrants[:shift]):
                if (tool.name, site.name) in failed:
                    continue
                _say(f"round {number} of {count}: {tool.title} on the {site.title}", end=" ... ")
                try:
                    run = _once(tool, terms, site, number)
                except Failed as failure:
                    failed.add((tool.name, site.name))
                    problems.append(f"{tool.title} on the {site.title}: {failure}")
                    _say(f"failed: {failure}")
                    continue
                runs.append(run)
                _say(f"{run.pages:,} pages in {run.seconds:.2f} s")


def _once(tool: Tool, terms: Terms, site: Served, number: int) -> Run:
    folder = Path(tempfile.mkdtemp(prefix=f"{tool.name}-", dir=terms.work))
    try:
        return tool.crawl(site, terms, folder, number)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _say(line: str, end: str = "\n") -> None:
    print(line, end=end, file=sys.stderr, flush=True)
