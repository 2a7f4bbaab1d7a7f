"""`bin/bench` from what is typed to what it writes, at the smallest size."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crawler.core.options.catalogue import CrawlOptions
from tools.bench import compare, flat
from tools.bench.arguments import parse


def test_quick_is_less_of_what_was_not_said() -> None:
    assert parse([]).rounds == 5
    assert parse(["--quick"]).rounds == 1
    assert parse(["--quick", "--rounds", "2"]).rounds == 2
    assert parse(["--generated", "0"]).generated == 0
    assert parse(["million"]).urls == 1_000_000
    assert parse(["million"]).hosts == 10_000
    assert (parse(["million", "--quick"]).urls, parse(["million", "--quick"]).hosts) == (20_000, 1_000)
    assert parse([]).manuals == ["postgresql", "python", "openjdk"]
    assert parse([]).once == ["openjdk"]
    assert parse(["--manuals", "openjdk"]).once == []
    assert parse(["--quick"]).manuals == ["postgresql"]
    assert parse(["--quick", "--manuals", "python"]).manuals == ["python"]
    assert parse(["--manuals"]).manuals == []
    assert "ours-stock" in parse([]).tools
    assert {"ours-stock", "ours-postgresql"}.isdisjoint(parse(["--quick"]).tools)
    assert parse(["--quick", "--tools", "wget"]).tools == ["wget"]
    assert parse([]).concurrency == CrawlOptions().concurrency


@pytest.mark.parametrize("words", [["--rounds", "0"], ["--tools", "curl"], ["million", "--generated", "3"]])
def test_what_makes_no_sense_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(words)

    assert ended.value.code == 2


@pytest.mark.long
@pytest.mark.skipif(shutil.which("wget") is None, reason="there is no wget here")
def test_rounds_of_a_peer_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, drawing = tmp_path / "all.json", tmp_path / "bench.svg"
    words = ["--tools", "wget", "--manuals", "--no-peers", "--generated", "30", "--rounds", "2"]

    assert compare.main(parse([*words, "--json", str(file), "--chart", str(drawing)])) == 0

    told = json.loads(file.read_text())
    assert [(run["tool"], run["pages"], run["round"]) for run in told["runs"]] == [("wget", 30, 1), ("wget", 30, 2)]
    assert "wget -r" in drawing.read_text()
    assert "Generated site, 30 pages" in capsys.readouterr().out


@pytest.mark.long
def test_a_crawl_of_ours_is_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "flat.json"

    assert flat.main(parse(["flat", "--pages", "20", "--workers", "1", "--json", str(file)])) == 0

    (crawl,) = json.loads(file.read_text())["crawls"]
    assert crawl["receipt"]["fetched"] == 20
    assert crawl["samples"][-1]["closed"] == crawl["samples"][-1]["discovered"] == 20
    assert crawl["samples"][-1]["redis_bytes"] > 0
    assert "70-90 %" in capsys.readouterr().out
