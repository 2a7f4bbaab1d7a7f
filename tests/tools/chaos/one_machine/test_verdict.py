"""A check that cannot fail is worthless: whatever is wrong in the evidence of a run, its verdict says so."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tools.chaos.one_machine.test_schedule import PLAIN
from tools.chaos.evidence import Closing, Counts, Finish
from tools.chaos.one_machine.crew import Role
from tools.chaos.one_machine.disturbances import MachineSchedule
from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.report import MachineResult, report_of
from tools.chaos.one_machine.user import Call, User
from tools.chaos.one_machine.verdict import RENDERED, batch_pages, judge, rendered_again
from tools.chaos.scene import Struck
from tools.chaos.session import Report
from tools.chaos.verdict import BLAMED, LOST, REFETCHED, Verdict, measured

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


def verdict(**changes: Any) -> Verdict:
    return judge(replace(FLAWLESS, **changes), EXPECTED, batch_pages=10)


def pages(**changes: Any) -> dict[str, Any]:
    return {**FLAWLESS.pages, **changes}


def receipt(**changes: Any) -> Mapping[str, Any]:
    return {**RECEIPT, **changes}


def test_a_flawless_run_has_no_faults() -> None:
    assert verdict().faults == []


def test_the_same_notice_delivered_again_is_no_fault() -> None:
    assert verdict(received=["first", "first"]).faults == []


def test_work_that_was_done_again_may_show_in_the_receipt() -> None:
    assert verdict(receipt=receipt(requests=9)).faults == []


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


SHOWN = {START: ("root", "Home"), NEXT: ("root", "Next")}
SHOP = replace(FLAWLESS, shown=SHOWN, hits={**FLAWLESS.hits, "/api/index.json": 1, "/api/next.json": 1})


@pytest.mark.parametrize(
    ("fault", "changes"),
    {
        "a page that was not rendered": ("lost", {"shown": {START: SHOWN[START]}}),
        "a page rendered without need": ("lost", {"shown": {**SHOWN, GONE: ("root", "Gone")}}),
        "a page closed as it was sent": ("lost", {"shown": {**SHOWN, NEXT: ("root", "Shop")}}),
        "a connection where none is allowed": ("lost", {"knocks": 1}),
        "a page rendered twice": ("rendered", {"hits": {**SHOP.hits, "/api/next.json": 2}}),
    }.values(),
)
def test_what_is_wrong_with_rendered_pages_is_said(fault: str, changes: dict[str, Any]) -> None:
    expected = measured(SHOP)
    assert judge(SHOP, expected, batch_pages=10).faults == []
    said = {fault.partition(":")[0] for fault in judge(replace(SHOP, **changes), expected, 10).faults}
    assert fault in said
    assert said <= {fault, "refetched"}


@pytest.mark.parametrize(
    ("kind", "places", "most"),
    [
        ("kill-chromium", 6, 6),  # the pages that it shows
        ("kill-chromium", 3, 3),
        ("kill-browser-worker", 6, 24),  # as many batches, of four pages each
        ("kill-everything", 6, 48),  # those of both browser workers
        ("kill-web", 6, 0),
    ],
)
def test_pages_may_be_rendered_again_that_were_in_hand(kind: str, places: int, most: int) -> None:
    crew, struck = [Role.OWN, Role.BROWSER, Role.BROWSER], [Struck(kind, "", 0.0, 0.5)]
    for times, is_too_much in ((1 + most, False), (2 + most, True)):
        hits = {**SHOP.hits, "/api/next.json": times}
        again = replace(SHOP, hits=hits, places=places, crew=crew, struck=struck)
        assert rendered_again(again, measured(SHOP)) == times - 1
        assert bool(judge(again, measured(SHOP), batch_pages=10).number(RENDERED)) is is_too_much


def test_pages_lost_with_a_killed_worker_are_counted_exactly() -> None:
    told = {**RECEIPT, "fetched": 2, "failed": 1, "lost": 1, "statuses": {"200": 1, "404": 1}}
    lost: dict[str, Any] = {
        "pages": pages(**{NEXT: ("lost", None)}),
        "counters": Counts(3, {"2xx": 1, "4xx": 1, "lost": 1}, {"200": 1, "404": 1}),
        "receipt": told,
    }
    evidence = replace(FLAWLESS, **lost, struck=[Struck("kill-horse", "", 0.0, 0.5)])
    assert judge(evidence, measured(evidence), batch_pages=10).faults == []
    assert judge(replace(evidence, struck=[]), measured(evidence), batch_pages=10).number(LOST)
    assert judge(replace(evidence, receipt={**told, "lost": 2}), measured(evidence), batch_pages=10).number(LOST)
    assert verdict(**lost, struck=evidence.struck).number(LOST)  # where none may be lost


FOR_MEMBERS = replace(EXPECTED, titles={NEXT: "A page"})


@pytest.mark.parametrize(
    ("heap", "changes"),
    [
        pytest.param("lost", {"titles": {NEXT: "Log in"}, "logins": 1}, id="a page stored as the form"),
        pytest.param("counted", {"titles": {NEXT: "A page"}, "logins": 2}, id="a log-in too many"),
    ],
)
def test_what_is_wrong_with_a_log_in_is_said(heap: str, changes: dict[str, Any]) -> None:
    flawless = replace(FLAWLESS, titles={NEXT: "A page"}, logins=1)
    assert judge(flawless, FOR_MEMBERS, batch_pages=10).faults == []
    (fault,) = judge(replace(flawless, **changes), FOR_MEMBERS, batch_pages=10).faults
    assert fault.startswith(heap)


def asked_again(*answers: int | None) -> dict[str, Any]:
    """A user opened /next again, in the next round."""
    user = User(Path(), {}, "http://site")
    user.calls += [
        Call(number, "again", ["/next"], answer=None if again is None else {"again": again})
        for number, again in enumerate(answers, start=1)
    ]
    back = Finish("finished", "running", 1, 3)
    return {
        "user": user,
        "rounds": 2,
        "notices": 2,
        "received": ["first", "second"],
        "closings": [*SEEN, Closing(NEXT, 1, 0), Closing(NEXT, 0, 1)],
        "finishes": [*FLAWLESS.finishes, back, *FLAWLESS.finishes],
        "hits": {**FLAWLESS.hits, "/next": 2},
    }


@pytest.mark.parametrize("answers", [(1,), (None,), (None, 0), (0, 1)])
def test_a_page_that_a_user_asked_for_again_closes_once_more(answers: tuple[int | None, ...]) -> None:
    found = replace(FLAWLESS, **asked_again(*answers))
    expected = replace(EXPECTED, hits={**FLAWLESS.hits, "/next": 2})
    assert judge(found, expected, batch_pages=10).faults == []


@pytest.mark.parametrize(
    ("heap", "changes"),
    {
        "a page nobody asked for again": ("twice", asked_again()),
        "a page the user was not told of": ("twice", asked_again(0)),
        "a page that was not opened": ("twice", {**asked_again(1), "closings": SEEN}),
        "a page that was not requested again": ("twice", {**asked_again(1), "hits": FLAWLESS.hits}),
        "a page closed a third time": (
            "twice",
            {**asked_again(1), "closings": [*asked_again()["closings"], Closing(NEXT, 0, 1)]},
        ),
        "one notice for two rounds": ("told", {**asked_again(1), "notices": 1}),
        "a finish taken back without a round": ("early", {**asked_again(1), "rounds": 3}),
        "a hook that was not called": ("told", {**asked_again(1), "not_called": ["closed /next"]}),
    }.values(),
)
def test_what_is_wrong_with_a_queue_is_said(heap: str, changes: dict[str, Any]) -> None:
    assert heap in {fault.partition(":")[0] for fault in verdict(**changes).faults}


def test_a_frontier_built_again_is_no_fault() -> None:
    assert verdict(disagreements=["nothing was queued or handed out, yet the table had open pages"]).faults == []


def test_each_disturbance_allows_for_the_pages_of_one_batch() -> None:
    often = {**FLAWLESS.hits, "/next": 11}
    assert verdict(hits=often).number(REFETCHED)
    assert not verdict(hits=often, struck=[Struck("kill-horse", "", 0.0, 0.5)]).number(REFETCHED)
    assert verdict(hits=often, struck=[Struck("kill-web", "", 0.0, 0.5)]).number(REFETCHED)
    assert verdict(hits={**often, "/next": 12}, struck=[Struck("kill-horse", "", 0.0, 0.5)]).number(REFETCHED)


def test_a_process_may_be_killed_between_its_note_and_its_request() -> None:
    struck = [Struck("kill-horse", "", 0.0, 0.5)]
    assert verdict(deaths={"/next": 1}, struck=struck).faults == []
    assert verdict(deaths={"/next": 1, "/gone": 1}, struck=struck).number(BLAMED)
    assert not verdict(deaths={"/next": 1, "/gone": 1}, hits={**FLAWLESS.hits, "/gone": 2}, struck=struck).number(
        BLAMED
    )


def test_a_batch_of_one_host_takes_slices_until_it_holds_enough_pages() -> None:
    assert batch_pages() == 511 + 256


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


def test_a_time_that_was_not_measured_is_not_missed() -> None:
    told = report(FLAWLESS)
    assert told.is_good
    assert dict(told.rows)["after everything was dead"] == "not measured"
