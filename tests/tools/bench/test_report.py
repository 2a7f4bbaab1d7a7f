"""The table and the JSON of a comparison."""

from __future__ import annotations

import json

from tools.bench.figures import OURS, Cpu, Run, Target, judged, summarised
from tools.bench.report import Report, as_json, bars, table

RUNS = [
    Run("postgresql", OURS, 1, 0.5, 1000, None, 2.0, Cpu(1.0, 0.25, 0.1)),
    Run("postgresql", "scrapy", 1, 5.0, 1000, 40_000, 6.0, Cpu(5.5)),
    Run("postgresql", "wget", 1, 0.25, 1000, None, 0.25),
]
TARGETS = [Target("postgresql", "scrapy", 6), Target("postgresql", "wget", 1, is_stretch=True)]


def report() -> Report:
    summaries = summarised(RUNS)
    titles = {"postgresql": "PostgreSQL manual", "python": "Python manual"}
    return Report(titles, summaries, judged(summaries, TARGETS), ["no apt"], {"rounds": 1})


def test_the_table_tells_ratios_targets_and_what_was_left_out() -> None:
    told = table(report())

    assert "PostgreSQL manual\n" in told
    assert "Python manual\n" not in told  # nothing was run there
    assert "10.00 x" in told
    assert "met     PostgreSQL manual: 10.0 x Scrapy (target: 6 x)" in told
    assert "MISSED  PostgreSQL manual: 0.5 x wget -r (stretch: 1 x)" in told
    assert "no apt" in told


def test_cpu_time_a_page_is_told_with_its_parts_where_there_are_several() -> None:
    ours, scrapy, wget = table(report()).splitlines()[2:5]

    assert "1.35  1.00 + 0.25 + 0.10 " in ours
    assert "5.50 " in scrapy
    assert "+" not in scrapy + wget


def test_the_json_has_every_run() -> None:
    told = json.loads(as_json(report(), RUNS))

    assert [run["tool"] for run in told["runs"]] == [OURS, "scrapy", "wget"]
    assert [target["met"] for target in told["targets"]] == [True, False]
    assert told["rounds"] == 1
    assert told["runs"][0]["cpu"] == {"crawler": 1.0, "redis": 0.25, "database": 0.1}


def test_the_chart_has_a_group_for_each_site_that_was_crawled() -> None:
    (group,) = bars(report())

    assert [(bar.label, bar.is_ours) for bar in group.bars] == [
        ("Site Crawler", True),
        ("Scrapy", False),
        ("wget -r", False),
    ]
