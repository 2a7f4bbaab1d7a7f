"""How near to the best possible a crawl of a slow site comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.bench import latency
from tools.bench.arguments import parse
from tools.bench.figures import Cpu
from tools.bench.latency import Crawled, row
from tools.bench.serving import Seen


def crawled(seconds: float, *, fetched: int = 400, most: int = 16, cpu: Cpu | None = None) -> Crawled:
    return Crawled(400, 16, 0.1, fetched, cpu, Seen(400, 1000.0, 1000.0 + seconds, 0, most))


def test_the_best_possible_is_all_connections_busy_from_the_first_request_to_the_last_answer() -> None:
    assert crawled(2.5).best == pytest.approx(2.5)
    assert crawled(2.5).percent == pytest.approx(100)
    assert crawled(5.0).percent == pytest.approx(50)


@pytest.mark.parametrize(
    ("one", "trouble"),
    [
        (crawled(3.0), ""),
        (crawled(3.0, most=3), ""),
        (crawled(3.0, fetched=399), "of 400 pages 399 were got"),
        (crawled(3.0, most=17), "17 requests at a time over 16 connections"),
    ],
)
def test_a_crawl_that_left_pages_out_or_asked_too_many_at_a_time_is_no_measurement(one: Crawled, trouble: str) -> None:
    assert one.trouble == trouble


def test_a_row_has_the_median_of_its_crawls() -> None:
    crawls = [crawled(seconds, cpu=Cpu(0.3, 0.1)) for seconds in (2.5, 25.0, 5.0)]
    assert row(crawls).split() == ["400", "16", "5.00", "2.50", "50", "%", "16", "1.00"]
    assert row([crawled(5.0)]).split()[-1] == "16"  # no CPU time is told


def test_all_sizes_are_crawled_over_all_numbers_of_connections_unless_some_are_named() -> None:
    chosen = parse(["latency"])
    assert (chosen.pages, chosen.connections, chosen.latency) == ([400, 1600, 6400], [4, 16, 64], 0.1)
    assert parse(["latency", "--quick"]).pages == [400]
    assert parse(["latency", "--quick", "--pages", "7", "--connections", "3"]).pages == [7]


@pytest.mark.long
def test_a_slow_site_is_crawled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["latency", "--pages", "20", "--connections", "2", "--latency", "0.05", "--workers", "1"]

    assert latency.main(parse([*words, "--json", str(tmp_path / "told.json")])) == 0

    (told,) = json.loads((tmp_path / "told.json").read_text())["crawls"]
    assert (told["pages"], told["fetched"], told["seen"]["requests"]) == (20, 20, 20)
    assert told["seen"]["most_waiting"] <= 2
    assert 0 < told["percent"] <= 100
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["20", "2"]
