"""What `bin/bench` makes of its figures, and its smallest runs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.stack import ROOT
from tools.bench import compare, flat, throttle
from tools.bench.against import OTHER, ratios
from tools.bench.arguments import parse
from tools.bench.figures import OURS, Cpu, Run, summarised
from tools.bench.simulated_hosts import SCENES


def run(tool: str, seconds: float, *, number: int = 1, cpu: float | None = None) -> Run:
    return Run("manual", tool, number, seconds, 100, cpu=None if cpu is None else Cpu(cpu))


def test_a_summary_has_medians_the_spread_of_its_runs_and_the_cpu_time_of_a_page() -> None:
    summary, other = summarised(
        [run(OURS, seconds, cpu=seconds / 10) for seconds in (1.0, 4.0, 2.0)] + [run("wget", 1)]
    )
    assert (summary.seconds, summary.fastest, summary.slowest, summary.runs) == (2.0, 1.0, 4.0, 3)
    assert (summary.rate, summary.spread) == (50, 1.5)
    assert summary.cpu_ms_total == pytest.approx(2)
    assert (other.tool, other.runs, other.cpu_ms) == ("wget", 1, None)


def test_the_throttle_is_measured_beside_another_on_the_same_host() -> None:
    found = throttle.measured("steady, 200 ms", SCENES["steady, 200 ms"], connections=4, seconds=40.0)
    assert found.share > 0.9 > found.autothrottle_share
    drawn = throttle.drawn([found], 4)
    assert drawn.count("<circle") == 4  # two in the legend
    assert "steady, 200 ms" in drawn


def test_versions_are_compared_in_pairs_and_a_round_that_was_interrupted_is_none() -> None:
    first = [run(OURS, seconds, number=number, cpu=0.5) for number, seconds in enumerate((1.0, 2.0, 1.0, 1.0))]
    second = [run(OTHER, seconds, number=at, cpu=cpu) for at, (seconds, cpu) in enumerate(((2, 1), (2, 0.4), (1, 1)))]
    assert list(ratios({"manual": "manual", "none": "not crawled"}, [*first, *second])) == [
        "manual: 2.000 x the pages/s (pairs: 1.000 to 2.000)",
        "        0.500 x the CPU a page (pairs: 0.500 to 1.250)",
    ]
    assert list(ratios({"manual": "manual"}, first)) == []


@pytest.mark.long
@pytest.mark.parametrize("peer", ["wget", "wget2"])
def test_rounds_of_a_peer_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str], peer: str) -> None:
    if shutil.which(peer) is None:
        pytest.skip(f"there is no {peer} here")
    file, drawing = tmp_path / "all.json", tmp_path / "bench.svg"
    words = ["--tools", peer, "--manuals", "--no-peers", "--generated", "30", "--rounds", "2"]
    assert compare.main(parse([*words, "--json", str(file), "--chart", str(drawing)])) == 0
    told = json.loads(file.read_text())
    assert [(run["tool"], run["pages"], run["round"]) for run in told["runs"]] == [(peer, 30, 1), (peer, 30, 2)]
    assert f"{peer} -r" in drawing.read_text()
    said = capsys.readouterr().out
    assert "Generated site, 30 pages" in said
    assert "stored of a page" in said


@pytest.mark.long
def test_a_crawl_of_ours_is_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "flat.json"
    assert flat.main(parse(["flat", "--pages", "20", "--workers", "1", "--json", str(file)])) == 0
    (crawl,) = json.loads(file.read_text())["crawls"]
    assert crawl["receipt"]["fetched"] == 20
    assert crawl["samples"][-1]["closed"] == crawl["samples"][-1]["discovered"] == 20
    assert "70-90 %" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("stop", [None, signal.SIGTERM], ids=["to the end", "SIGTERM"])
def test_two_versions_are_crawled_in_turn_and_leave_nothing_behind(tmp_path: Path, stop: int | None) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    folder, told, said = tmp_path / "temporary", tmp_path / "told.json", tmp_path / "said"
    folder.mkdir()
    words = ["--against", "HEAD", "--manuals", "--generated", "20", "--workers", "1", "--json", str(told), "--rounds"]
    command = [sys.executable, "-P", "-m", "tools.bench", *words, "1" if stop is None else "99"]
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    with said.open("wb") as stream, subprocess.Popen(command, stderr=stream, env=environment) as process:
        if stop is not None:
            deadline = time.monotonic() + 100
            while "round 1 of 99: HEAD" not in said.read_text():
                assert time.monotonic() < deadline, said.read_text()
                time.sleep(0.05)
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
