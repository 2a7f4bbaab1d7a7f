"""What early acknowledgement saves when workers are killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.bench import acknowledge
from tools.bench.acknowledge import Crawled, row
from tools.bench.arguments import parse


def crawled(requests: int = 400, *, fetched: int = 400, lost: int = 0) -> Crawled:
    return Crawled("early", 1, 400, requests, fetched, lost, 9.0)


@pytest.mark.parametrize(
    ("one", "trouble"),
    [
        (crawled(), ""),
        (crawled(fetched=390, lost=10), ""),
        (crawled(fetched=390, lost=9), "of 400 pages 390 were fetched and 9 were lost"),
    ],
)
def test_a_crawl_with_pages_neither_fetched_nor_lost_is_no_measurement(one: Crawled, trouble: str) -> None:
    assert one.trouble == trouble


def test_a_row_has_the_medians_and_how_far_crawls_differ() -> None:
    crawls = [crawled(requests, fetched=400 - lost, lost=lost) for requests, lost in ((400, 0), (412, 30), (401, 5))]
    assert row(crawls).split() == ["early", "1", "401", "(400-412)", "395", "(370-400)", "5", "(0-30)", "9"]


@pytest.mark.long
def test_workers_are_killed_under_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "acknowledge.json"
    words = ["acknowledge", "--pages", "120", "--killed", "1", "--workers", "2", "--rounds", "1", "--json", str(file)]
    assert acknowledge.main(parse(words)) == 0
    late, early = json.loads(file.read_text())["crawls"]
    assert (late["ack"], late["fetched"], late["lost"]) == ("late", 120, 0)
    assert early["lost"] > 0, "no worker died with pages"
    assert late["requests"] > early["fetched"]
    assert capsys.readouterr().out.splitlines()[0].split()[:2] == ["ack", "killed"]
