"""Two versions of the project in turn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.stack import ROOT
from tools.bench.against import OTHER, ratios
from tools.bench.arguments import parse
from tools.bench.figures import OURS, Cpu, Run

WORDS = ("--against", "HEAD", "--manuals", "--generated", "20", "--workers", "1", "--json")


def run(tool: str, number: int, seconds: float, cpu: float | None = None) -> Run:
    return Run("manual", tool, number, seconds, 100, cpu=None if cpu is None else Cpu(cpu))


def test_ratios_are_of_medians_and_the_pairs_tell_how_far_they_lie_apart() -> None:
    first = [run(OURS, 1, 1.0, 0.5), run(OURS, 2, 2.0, 0.5), run(OURS, 3, 1.0, 0.5)]
    second = [run(OTHER, 1, 2.0, 1.0), run(OTHER, 2, 2.0, 0.4), run(OTHER, 3, 1.0, 1.0)]

    assert list(ratios({"manual": "manual", "none": "not crawled"}, [*first, *second])) == [
        "manual: 2.000 x the pages/s (pairs: 1.000 to 2.000)",
        "        0.500 x the CPU a page (pairs: 0.500 to 1.250)",
    ]


def test_a_round_that_was_interrupted_is_no_pair() -> None:
    runs = [run(OURS, 1, 1.0), run(OTHER, 1, 2.0), run(OURS, 2, 1.0)]
    assert list(ratios({"manual": "manual"}, runs)) == ["manual: 2.000 x the pages/s"]
    assert list(ratios({"manual": "manual"}, runs[:1])) == []


def test_it_is_this_projects_usual_form_unless_another_is_named() -> None:
    assert parse(["--against", "main"]).what == "against"
    assert parse(["--against", "main"]).tools == [OURS]
    assert parse(["--against", "main", "--tools", "ours-stock"]).tools == ["ours-stock"]


@pytest.mark.parametrize("words", [["--tools", "wget"], ["--tools", "ours", "ours-stock"], ["--strict"]])
def test_what_cannot_be_compared_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--against", "main", *words])
    assert ended.value.code == 2


@pytest.mark.long
@pytest.mark.parametrize("stop", [None, signal.SIGINT, signal.SIGTERM], ids=["to the end", "Ctrl-C", "SIGTERM"])
def test_two_versions_are_crawled_in_turn_and_leave_nothing_behind(tmp_path: Path, stop: int | None) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    folder, told = tmp_path / "temporary", tmp_path / "told.json"
    folder.mkdir()
    command = [sys.executable, "-P", "-m", "tools.bench", *WORDS, str(told), "--rounds", "1" if stop is None else "99"]
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    with (tmp_path / "said").open("wb") as said, subprocess.Popen(command, stderr=said, env=environment) as process:
        if stop is not None:
            wait_until_said(tmp_path / "said", "round 1 of 99: HEAD")
            process.send_signal(stop)
        assert process.wait(120) == (0 if stop is None else 1)
    assert list(folder.iterdir()) == []
    assert not processes_of(folder)
    runs = [(run["tool"], run["pages"]) for run in json.loads(told.read_text())["runs"]]
    assert runs == [(OURS, 20), (OTHER, 20)][: None if stop is None else 1]


def processes_of(folder: Path) -> list[str]:
    """Command lines of processes that were told of this folder, as all are that a measurement starts."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (process / "environ").read_text(errors="replace"):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue  # it has ended meanwhile, or is not ours
    return found


def wait_until_said(file: Path, words: str) -> None:
    deadline = time.monotonic() + 100
    while words not in file.read_text():
        assert time.monotonic() < deadline, file.read_text()
        time.sleep(0.05)
