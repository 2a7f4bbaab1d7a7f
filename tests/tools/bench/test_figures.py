"""Medians, spread, ratios and targets."""

from __future__ import annotations

import pytest

from tools.bench.figures import OURS, Cpu, Run, Target, judged, ratio, summarised


def run(tool: str, seconds: float, *, site: str = "manual", pages: int = 100, number: int = 1) -> Run:
    return Run(site, tool, number, seconds, pages)


def test_a_summary_has_the_median_and_the_spread_of_its_runs() -> None:
    (summary,) = summarised([run(OURS, seconds) for seconds in (1.0, 4.0, 2.0)])

    assert (summary.seconds, summary.fastest, summary.slowest, summary.runs) == (2.0, 1.0, 4.0, 3)
    assert summary.rate == 50
    assert summary.spread == 1.5
    assert summary.links is None
    assert summary.process_seconds is None


def test_sites_and_tools_are_kept_apart_in_the_order_of_their_first_run() -> None:
    runs = [run("wget", 1), run(OURS, 1), run("wget", 1, site="other"), run("wget", 3)]

    found = [(summary.site, summary.tool, summary.runs) for summary in summarised(runs)]

    assert found == [("manual", "wget", 2), ("manual", OURS, 1), ("other", "wget", 1)]


def test_the_ratio_is_of_pages_a_second_so_that_nobody_wins_by_leaving_pages_out() -> None:
    summaries = summarised([run(OURS, 2, pages=100), run("wget", 1, pages=25)])

    assert ratio(summaries, "manual", "wget") == 2
    assert ratio(summaries, "manual", "scrapy") is None
    assert ratio(summaries, "elsewhere", "wget") is None


def test_cpu_time_is_told_for_a_page_each_part_by_its_median() -> None:
    used = [Cpu(0.1, 0.02, 0.01), Cpu(0.3, 0.01, 0.03), Cpu(0.2, 0.06, 0.02)]

    (summary,) = summarised([Run("manual", OURS, 1, 1.0, 100, None, None, cpu) for cpu in used])

    assert summary.cpu_ms == Cpu(pytest.approx(2), pytest.approx(0.2), pytest.approx(0.2))
    assert summary.cpu_ms_total == pytest.approx(2.8)  # of 1.3, 3.4 and 2.8


def test_where_no_cpu_time_is_told_there_is_none() -> None:
    (summary,) = summarised([run(OURS, 1)])

    assert (summary.cpu_ms, summary.cpu_ms_total) == (None, None)
    assert Run("manual", OURS, 1, 1.0, 0, cpu=Cpu(1.0)).cpu_ms is None  # no pages


@pytest.mark.parametrize(("seconds", "is_met"), [(6.0, True), (6.1, True), (5.9, False)])
def test_a_target_is_met_from_its_figure_on(seconds: float, is_met: bool) -> None:
    summaries = summarised([run(OURS, 1), run("scrapy", seconds)])

    (result,) = judged(summaries, [Target("manual", "scrapy", 6), Target("manual", "wget", 1)])

    assert result.is_met is is_met
