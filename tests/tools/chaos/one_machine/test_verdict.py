"""A check that cannot fail is worthless: whatever is wrong in the evidence of a run, its verdict says so."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tools.chaos.evidence import Closing, Counts, Finish
from tools.chaos.one_machine.crew import Role
from tools.chaos.one_machine.disturbances import KINDS, LEAST, MOST, MachineSchedule, draw
from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.report import MachineResult, report_of
from tools.chaos.one_machine.scene import Grounds
from tools.chaos.one_machine.verdict import judge
from tools.chaos.scene import Struck
from tools.chaos.session import Report
from tools.chaos.site import Site
from tools.chaos.verdict import REFETCHED, Verdict, measured

START, NEXT, GONE, OTHER = "http://site/", "http://site/next", "http://site/gone", "http://site/other"
SEEN = [Closing(START, 0, 1), Closing(GONE, 0, 1), Closing(NEXT, 0, 1)]
RECEIPT = {
    "discovered": 3,
    "fetched": 3,
    "failed": 0,
    "skipped": {},
    "cancelled": 0,
    "statuses": {"200": 2, "404": 1},
    "requests": 4,
}
FLAWLESS = MachineEvidence(
    state="finished",
    pages={START: ("2xx", 200), NEXT: ("2xx", 200), GONE: ("4xx", 404)},
    closings=SEEN,
    finishes=[Finish("running", "finished", open=0, pages=3)],
    counters=Counts(3, {"2xx": 2, "4xx": 1}, {"200": 2, "404": 1}),
    disagreements=[],
    notices=1,
    received=["first"],
    receipt=RECEIPT,
    left_in_redis=[],
    left_in_queues=[],
    left_working=[],
    hits={"/": 1, "/next": 1, "/gone": 1, "/robots.txt": 1},
    deaths={},
    struck=[],
    crew=[Role.STOCK],
    seconds=1.0,
    refetches=[],
    revivals=[],
    announced=0.1,
    rounds=1,
    titles={},
    shown={},
)
EXPECTED = measured(FLAWLESS)
PLAIN = Grounds(Path(), Path(), cast(Site, None), mount=True)


def verdict(**changes: Any) -> Verdict:
    return judge(replace(FLAWLESS, **changes), EXPECTED, batch_pages=10)


def pages(**changes: Any) -> dict[str, Any]:
    return {**FLAWLESS.pages, **changes}


def receipt(**changes: Any) -> Mapping[str, Any]:
    return {**RECEIPT, **changes}


def test_a_flawless_run_has_no_faults() -> None:
    assert verdict().faults == []


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "a page that is missing": ("lost", {"pages": {START: ("2xx", 200), GONE: ("4xx", 404)}}),
    "a page that is open": ("lost", {"pages": pages(**{NEXT: ("", None)})}),
    "a page with another outcome": ("lost", {"pages": pages(**{NEXT: ("crashed", None)})}),
    "a page with another status": ("lost", {"pages": pages(**{NEXT: ("2xx", 204)})}),
    "a page too many": ("lost", {"pages": pages(**{OTHER: ("2xx", 200)}), "closings": [*SEEN, Closing(OTHER, 0, 1)]}),
    "a page closed twice": ("twice", {"closings": [*SEEN, Closing(NEXT, 0, 1)]}),
    "a page opened again": ("twice", {"closings": [*SEEN, Closing(NEXT, 1, 0)]}),
    "a page deleted": ("twice", {"closings": [*SEEN, Closing(OTHER, 1, None)]}),
    "a page nobody saw close": ("twice", {"closings": SEEN[:2]}),
    "finished with an open page": ("early", {"finishes": [Finish("running", "finished", 1, 3)]}),
    "finished with a page to come": ("early", {"finishes": [Finish("running", "finished", 0, 2)]}),
    "finished taken back": ("early", {"finishes": [*FLAWLESS.finishes, Finish("finished", "running", 0, 3)]}),
    "finished twice": ("early", {"finishes": [*FLAWLESS.finishes, *FLAWLESS.finishes]}),
    "a crawl that goes on": ("stuck", {"state": "running"}),
    "no notice": ("told", {"notices": 0, "receipt": {}, "received": []}),
    "a second notice": ("told", {"notices": 2}),
    "a second delivery": ("told", {"received": ["first", "second"]}),
    "a notice that never came": ("told", {"received": []}),
    "a key": ("left", {"left_in_redis": ["crawler:1:leases"]}),
    "a job": ("left", {"left_in_queues": ["watch-1"]}),
    "a worker at work": ("left", {"left_working": ["stock-1"]}),
    "counters that were found wrong": ("counted", {"disagreements": ["the counters said 2, the rows say 3"]}),
    "a counter of pages": ("counted", {"counters": replace(FLAWLESS.counters, discovered=2)}),
    "a counter of outcomes": ("counted", {"counters": replace(FLAWLESS.counters, outcomes={"2xx": 3})}),
    "a counter of statuses": ("counted", {"counters": replace(FLAWLESS.counters, statuses={"200": 3})}),
    "pages blamed that were not in hand": ("blamed", {"deaths": {"/next": 1, "/gone": 1}}),
    "a receipt of another crawl": ("counted", {"receipt": receipt(discovered=4, fetched=4)}),
    "a receipt that does not add up": ("counted", {"receipt": receipt(fetched=2)}),
}


@pytest.mark.parametrize(("heap", "changes"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said_and_nothing_else(heap: str, changes: dict[str, Any]) -> None:
    said = {fault.partition(":")[0] for fault in verdict(**changes).faults}
    assert heap in said
    assert said <= {heap, "counted"}  # where pages are wrong, numbers are


def test_each_disturbance_allows_for_the_pages_of_one_batch() -> None:
    often = {**FLAWLESS.hits, "/next": 11}
    assert verdict(hits=often).number(REFETCHED)
    assert not verdict(hits=often, struck=[Struck("kill-horse", "", 0.0, 0.5)]).number(REFETCHED)
    assert verdict(hits=often, struck=[Struck("kill-web", "", 0.0, 0.5)]).number(REFETCHED)
    assert verdict(hits={**often, "/next": 12}, struck=[Struck("kill-horse", "", 0.0, 0.5)]).number(REFETCHED)


def test_a_seed_draws_a_schedule_whose_kinds_find_their_workers() -> None:
    assert draw(42, PLAIN) == draw(42, PLAIN) != draw(43, PLAIN)
    for seed in range(100):
        schedule = draw(seed, PLAIN)
        assert LEAST <= len(schedule.planned) <= MOST
        needed = set().union(*(KINDS[planned.kind].needs for planned in schedule.planned))
        assert needed & {*Role} <= set(schedule.crew)


def report(evidence: MachineEvidence) -> Report:
    undisturbed, disturbed = (MachineResult(MachineSchedule(7), each, EXPECTED, 10) for each in (FLAWLESS, evidence))
    return report_of("made up", undisturbed, [disturbed], ["fill-disk"], PLAIN)


def test_the_table_shows_faults_and_times_that_were_missed() -> None:
    slow = replace(FLAWLESS, pages=WRONG["a page that is missing"][1]["pages"], refetches=[3.0, 21.0], announced=1.0)
    told = report(slow)
    assert not told.is_good
    assert not told.plain["exact"]
    assert not told.plain["in_time"]
    lines = dict(told.rows)
    assert lines["pages lost"] == "1"
    assert lines["a killed worker's pages fetched again"] == "21.0 s at most, measured 2 times (target: 20 s, MISSED)"
    assert lines["- fill-disk"] == "left out on this machine"
    assert all(f"| {label} | {value} |" in told.markdown() for label, value in lines.items())
