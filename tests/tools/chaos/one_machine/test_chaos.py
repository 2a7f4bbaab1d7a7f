"""A crawl ends exactly, whatever is killed: a short form of `bin/chaos`, with schedules that between them hold nearly
every kind of disturbance. Times are only bounded loosely: a busy machine is no fault."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tools.chaos.one_machine.crew import Role
from tools.chaos.one_machine.database import Volume
from tools.chaos.one_machine.disturbances import MachineSchedule
from tools.chaos.one_machine.hooked import HANG, KILLS
from tools.chaos.one_machine.queue_use import used_as_queue
from tools.chaos.one_machine.run import run
from tools.chaos.one_machine.scene import Grounds, prepare
from tools.chaos.one_machine.sites import MembersSite, of_members
from tools.chaos.one_machine.verdict import batch_pages, judge
from tools.chaos.scene import Planned
from tools.chaos.site import Site, generated, queued
from tools.chaos.verdict import walked

CONTENT, LATENCY = generated(pages=110), 0.03
LONGEST = 60.0  # seconds for any recovery

STOCK, OWN = Role.STOCK, Role.OWN
SCHEDULES = {
    "workers are killed": MachineSchedule(
        1,
        (
            Planned("kill-stock-worker", 0.1, 1),
            Planned("kill-at-claim", 0.2, 8, settled=True),
            Planned("kill-horse", 0.3, 2),
            Planned("kill-manager", 0.4, 3),
            Planned("kill-own-worker", 0.5, 4),
            Planned("kill-web", 0.5, 5),
            Planned("terminate-twice", 0.7, 6),
            Planned("kill-everything-stock", 0.9, 7, settled=True),
        ),
        (STOCK, STOCK, OWN),
    ),
    "Redis forgets": MachineSchedule(
        2,
        (
            Planned("restart-redis", 0.15, 1),
            Planned("orphan-horse", 0.3, 2, settled=True),
            Planned("flush-redis", 0.4, 3),
            Planned("empty-redis", 0.55, 4, settled=True),
            Planned("kill-everything-own", 0.8, 5, settled=True),
        ),
        (STOCK, OWN),
    ),
    "everything stands still": MachineSchedule(
        3,
        (
            Planned("stop-worker", 0.2, 1),
            Planned("freeze-manager", 0.3, 4, settled=True),
            Planned("lock-database", 0.2, 2),
            Planned("fill-disk", 0.6, 3),
        ),
        (STOCK, OWN),
    ),
}


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    folder = tmp_path_factory.mktemp("chaos")
    with Site(CONTENT, LATENCY).serving() as site:
        yield Grounds(folder, prepare(folder / "template"), site, Volume.may_be_mounted(folder))


@pytest.mark.long
@pytest.mark.parametrize("schedule", [pytest.param(schedule, id=name) for name, schedule in SCHEDULES.items()])
def test_a_crawl_ends_exactly_though(grounds: Grounds, schedule: MachineSchedule) -> None:
    expected, said = walked(grounds.site, CONTENT), list[str]()
    evidence = run(grounds, schedule, len(expected.hits), said.append)
    assert judge(evidence, expected, batch_pages()).faults == [], "\n".join([str(grounds.folder), *said])
    assert all(seconds < LONGEST for seconds in (*evidence.refetches, *evidence.revivals))


@pytest.mark.long
def test_a_crawl_that_acknowledges_early_loses_what_dead_workers_had_and_no_other_page(grounds: Grounds) -> None:
    early, said = replace(grounds, acks_early=True), list[str]()
    evidence = run(
        early, replace(SCHEDULES["workers are killed"], seed=4), len(walked(grounds.site, CONTENT).hits), said.append
    )
    expected = walked(grounds.site, CONTENT, evidence.lost)
    assert judge(evidence, expected, batch_pages()).faults == [], "\n".join([str(grounds.folder), *said])
    assert evidence.lost, "nothing was lost: this shows nothing"


@pytest.mark.long
def test_a_crawl_whose_results_several_collectors_store_ends_exactly(grounds: Grounds) -> None:
    several, expected, said = replace(grounds, collectors=3), walked(grounds.site, CONTENT), list[str]()
    evidence = run(several, replace(SCHEDULES["workers are killed"], seed=6), len(expected.hits), said.append)
    assert judge(evidence, expected, batch_pages()).faults == [], "\n".join([str(grounds.folder), *said])
    logs = [file.read_text(errors="replace") for file in (grounds.folder / "run-6").glob("*.log")]
    assert any("store results of the crawl" in log for log in logs), "the first stored all: this shows nothing"


@pytest.mark.long
def test_a_crawl_that_users_add_to_and_change_ends_exactly_each_round(tmp_path: Path) -> None:
    content, said = queued(pages=60), list[str]()
    planned = (
        Planned("change-options", 0.1, 1),
        Planned("add-pages", 0.2, 2),
        Planned("kill-own-worker", 0.3, 3),
        Planned("request-again", 0.4, 4),
        Planned("flush-redis", 0.5, 5),
        Planned("add-pages", 0.6, 6),
        Planned("request-again", 0.7, 7),
    )
    with Site(content, LATENCY).serving() as site:
        grounds = Grounds(tmp_path, prepare(tmp_path / "template"), site, mount=False, is_queue=True)
        evidence = run(grounds, MachineSchedule(5, planned, (STOCK, OWN)), len(walked(site, content).hits), said.append)
        expected = used_as_queue(site, content, evidence)
    assert judge(evidence, expected, batch_pages()).faults == [], "\n".join(said)
    assert evidence.rounds > 1
    assert evidence.opened
    assert all(evidence.hook_strikes[what] for what in (*KILLS, HANG)), evidence.hook_strikes


@pytest.mark.long
def test_a_crawl_ends_exactly_though_scrapy_and_its_workers_are_killed(grounds: Grounds) -> None:
    """Each kill has a page in hand; the processes of Scrapy that a killed worker leaves end by themselves."""
    pytest.importorskip("scrapy", reason="Scrapy is not installed")
    planned = (Planned("kill-scrapy", 0.1, 1), Planned("kill-scrapy-worker", 0.4, 2), Planned("kill-scrapy", 0.5, 3))
    expected, said = walked(grounds.site, CONTENT), list[str]()
    through_scrapy = replace(grounds, runs_scrapy=True)
    schedule = MachineSchedule(8, planned, (STOCK, OWN, *through_scrapy.more))
    evidence = run(through_scrapy, schedule, len(expected.hits), said.append)
    assert judge(evidence, expected, batch_pages()).faults == [], "\n".join(said)
    assert [struck.kind for struck in evidence.struck] == [each.kind for each in planned], said


@pytest.mark.long
def test_a_crawl_that_logs_in_ends_exactly_though_the_site_ends_all_sessions(tmp_path: Path) -> None:
    planned = (
        Planned("end-sessions", 0.2, 1),
        Planned("kill-stock-worker", 0.3, 2),
        Planned("end-sessions", 0.5, 3),
        Planned("flush-redis", 0.7, 4),
    )
    said = list[str]()
    with MembersSite(80, LATENCY).serving() as site:
        grounds = Grounds(tmp_path, prepare(tmp_path / "template"), site, mount=False, logs_in=True)
        expected = of_members(site)
        evidence = run(grounds, MachineSchedule(7, planned, (STOCK, OWN)), len(expected.hits), said.append)
    assert judge(evidence, expected, batch_pages()).faults == [], "\n".join(said)
    assert evidence.logins > [struck.kind for struck in evidence.struck].count("end-sessions") > 0
