"""In which order crawls are measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.bench.figures import Run
from tools.bench.ours import Failed
from tools.bench.rounds import Entrant, rounds
from tools.bench.sites import Served
from tools.bench.tools import Terms, Tool

SITES = [Served("small", "small site", "http://small.test/"), Served("large", "large site", "http://large.test/")]


class Measured:
    """Two tools, one of which fails on a site if it is told to, and what was crawled."""

    def __init__(self, work: Path, fails_on: str = "") -> None:
        terms = Terms(Path("python"), 4, 2, 10.0, work)
        self._fails_on = fails_on
        self.entrants = [Entrant(Tool(name, name.upper(), self._crawl_by(name)), terms) for name in "ab"]
        self.runs, self.problems = list[Run](), list[str]()
        self.folders = list[Path]()

    def _crawl_by(self, name: str) -> Callable[[Served, Terms, Path, int], Run]:
        def crawl(site: Served, terms: Terms, folder: Path, number: int) -> Run:
            assert list(folder.iterdir()) == []
            self.folders.append(folder)
            if name == "b" and site.name == self._fails_on:
                raise Failed("it fell over")
            return Run(site.name, name, number, 1.0, 10)

        return crawl

    def order(self) -> list[str]:
        return [f"{run.round}{run.tool} {run.site}" for run in self.runs]


@pytest.mark.parametrize(("turns", "second"), [(True, ["2b small", "2a small"]), (False, ["2a small", "2b small"])])
def test_each_round_has_every_tool_on_every_site(tmp_path: Path, turns: bool, second: list[str]) -> None:
    measured = Measured(tmp_path)

    rounds(SITES, measured.entrants, 2, measured.runs, measured.problems, turns=turns, once=["large"])

    assert measured.order() == ["1a small", "1b small", "1a large", "1b large", *second]
    assert not any(folder.exists() for folder in measured.folders)


def test_what_failed_on_a_site_is_told_and_left_out_there(tmp_path: Path) -> None:
    measured = Measured(tmp_path, fails_on="small")

    rounds(SITES, measured.entrants, 2, measured.runs, measured.problems, turns=False)

    assert measured.order() == ["1a small", "1a large", "1b large", "2a small", "2a large", "2b large"]
    assert measured.problems == ["B on the small site: it fell over"]
    assert not any(folder.exists() for folder in measured.folders)
