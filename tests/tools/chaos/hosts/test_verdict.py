"""A check that cannot fail is worthless: whatever is wrong in the evidence of a run, its verdict says so."""

from dataclasses import fields, replace
from typing import Any
from uuid import UUID

import pytest

from tests.tools.chaos.one_machine.test_verdict import EXPECTED, FLAWLESS, GONE, START
from tools.chaos.evidence import Evidence
from tools.chaos.hosts.evidence import CrawlEvidence, HostsEvidence, Promises, judged
from tools.chaos.hosts.report import HostsResult, report_of
from tools.chaos.hosts.scenarios import SCENARIOS
from tools.chaos.hosts.workers import Sample

ONE = UUID(int=1)
KNOWN = {each.name: getattr(FLAWLESS, each.name) for each in fields(Evidence)}
CRAWL = CrawlEvidence(**KNOWN, id=str(ONE), expected=EXPECTED, stuck=2.0, off=0.1)
RUN = HostsEvidence(
    crawls=[CRAWL], faults=[], measured={}, shortest_gap=0.5, most_at_once=1, most_when_known=1, seconds=9.0
)
ALL = Promises(is_calm=True, no_deaths=True, registered=True, delay=0.5, connections=4)


def faults(promises: Promises = ALL, crawl: dict[str, Any] | None = None, **run: Any) -> list[str]:
    return [*judged(replace(RUN, crawls=[replace(CRAWL, **(crawl or {}))], **run), promises).faults]


def test_a_flawless_run_has_no_faults() -> None:
    assert faults() == []


WRONG: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a page that is missing": ("lost", {"pages": {START: ("2xx", 200)}}, {}),
    "a second notice": ("told", {"received": ["first", "second"]}, {}),
    "a notice delivered again": ("delivered 2 times", {"received": ["first", "first"]}, {}),
    "a page asked for again": ("refetched", {"hits": {**FLAWLESS.hits, "/": 2}}, {}),
    "a crawl that stands still": ("stood still", {"stuck": 36.0}, {}),
    "a page blamed": ("crashed", {"pages": {**FLAWLESS.pages, GONE: ("crashed", None)}}, {}),
    "a death nobody died": ("deaths", {"deaths": {"/gone": 1}}, {}),
    "a clock that is believed": ("from the real one", {"off": 600.0}, {}),
    "workers that RQ does not know": ("RQ knew", {}, {"measured": {"registered": 12.0}}),
    "a gap that is too short": ("apart", {}, {"shortest_gap": 0.4}),
    "too many connections": ("at once", {}, {"most_when_known": 5}),
}


@pytest.mark.parametrize(("said", "crawl", "run"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said(said: str, crawl: dict[str, Any], run: dict[str, Any]) -> None:
    assert any(said in fault for fault in faults(crawl=crawl, **run))


def test_the_table_names_the_run_that_broke_a_promise() -> None:
    lost = replace(CRAWL, pages={START: ("2xx", 200), GONE: ("4xx", 404)})
    runs = [RUN, replace(RUN, crawls=[lost])]
    report = report_of([HostsResult(SCENARIOS["exact"], seed, run) for seed, run in enumerate(runs)])
    assert not report.is_good
    assert report.notes[-1] == "2 runs: broken in exact (seed 1)"
    assert [line.split()[-1] for line in report.text().splitlines()[:3]] == ["promises", "kept", "BROKEN"]
    assert report.markdown().count("\n") == 4
    assert report.plain["runs"][1]["broken"]


def test_the_report_shows_workers_over_time() -> None:
    seen = [Sample(at / 2, 2, number, number, 4) for at, number in enumerate([0] * 10 + [1] * 10 + [2] * 10 + [0])]
    text = report_of([HostsResult(SCENARIOS["autoscale"], 1, replace(RUN, samples=seen))]).text()
    assert "0-2-0    10.0 s   0.0 s" in text
    assert "ran    01200\n  wanted 22222" in text
