"""A site in a browser, by this project and by its peers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.launch.chromium import find
from tools.bench import processes, render
from tools.bench.arguments import parse
from tools.bench.render import Rendered, places_of, table
from tools.bench.usage import Usage


def rendered(tool: str, seconds: float, *, pages: int = 200, cpu: float | None = 100.0) -> Rendered:
    return Rendered(tool, 1, pages, seconds, cpu, 600 * 2**20)


def test_a_tool_has_a_row_with_the_medians_of_its_crawls() -> None:
    found = [rendered("ours", seconds) for seconds in (40, 50, 400)] + [rendered("crawlee", 100, pages=199)]
    _, mine, theirs = table(found, 200, 6).splitlines()
    assert mine.split() == ["Site", "Crawler", "200", "of", "200", "50.0", "4.00", "0.50", "100"]
    assert theirs.split()[2:] == ["199", "of", "200", "100.0", "1.99", "0.50", "100", "2.0", "x"]


def test_peers_are_told_without_ours() -> None:
    assert "x" not in table([rendered("scrapy", 100, cpu=None)], 200, 6).splitlines()[1].split()


@pytest.mark.parametrize(
    ("places", "workers", "each"), [(6, 2, [3, 3]), (7, 2, [4, 3]), (1, 2, [1]), (12, 1, [12]), (2, 3, [1, 1])]
)
def test_browser_workers_share_the_places(places: int, workers: int, each: list[int]) -> None:
    assert places_of(places, workers) == each


def test_all_tools_are_measured_unless_some_are_named() -> None:
    assert parse(["render"]).tools == ["ours", "crawlee", "scrapy"]
    assert parse(["render", "--tools", "ours", "--places", "12"]).tools == ["ours"]


ENDS_BEFORE_ITS_CHILD = """
import subprocess, sys
child = "import time\\nwhile time.process_time() < 0.3: pass\\nprint('done', flush=True); input()"
print(subprocess.Popen([sys.executable, "-I", "-S", "-c", child]).pid, flush=True)
"""


@pytest.mark.skipif(not processes.ARE_TOLD, reason="this system does not tell")
def test_what_a_process_worked_counts_after_its_parent_has_ended() -> None:
    command = [sys.executable, "-I", "-S", "-c", ENDS_BEFORE_ITS_CHILD]
    with (
        Usage(lambda: processes.adopted("py")) as usage,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent,
    ):
        assert parent.stdout is not None
        assert parent.stdin is not None
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == "done\n"
        parent.wait()
        assert processes.proportional(child) > 2**20
        parent.stdin.close()
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    os.waitpid(child, 0)
    assert 0.3 <= usage.cpu_seconds < 2


@pytest.mark.long
def test_ours_renders_every_page(tmp_path: Path) -> None:
    if find() is None:
        pytest.skip("Chromium is not installed: python -m crawler.launch.chromium")
    words = ["render", "--tools", "ours", "--rounds", "1", "--pages", "8", "--places", "2"]

    assert render.main(parse([*words, "--json", str(tmp_path / "told.json")])) == 0

    (crawl,) = json.loads((tmp_path / "told.json").read_text())["crawls"]
    assert (crawl["tool"], crawl["pages"]) == ("ours", 8)
    assert crawl["cpu_seconds"] > 0
