"""Whatever dies or is forgotten, and when: what is left, who repairs it and by when are what the table says."""

import json

import pytest

from crawler.core.protocol.counters import adds_up
from crawler.frontier.results import LOCK_TTL_S
from tests.faults.left import Left, left_behind
from tests.faults.scenes import HOOK, SCENES, Scene
from tests.faults.table import AT_ONCE, Row, rows
from tests.faults.theatre import Theatre, able_to
from tests.manager.machine.stage import crash_points
from tests.site import Site

ROWS = rows()
SOON = 20.0  # seconds in which every repair is done, wherever somebody is alive

AT_HAND, STARTING, RECONCILE = ["work", "at hand"], ["work", "starting"], ["look_after"]
SAME_CALL: list[str] = []
REPAIRERS = {
    "any worker": [AT_HAND],
    "a starting worker": [AT_HAND, STARTING],
    "reconcile": [STARTING, RECONCILE],
    "the same call again": [STARTING, RECONCILE, SAME_CALL],
}
"""For each who, those who find nothing to repair it with, and last those who do."""


def test_every_crash_point_has_a_row() -> None:
    assert {*crash_points()} <= {row.moment for row in ROWS}


def test_every_row_has_a_scene_and_every_scene_a_row() -> None:
    assert sorted(row.moment for row in ROWS) == sorted(SCENES)


def test_a_scene_named_after_a_crash_point_strikes_there() -> None:
    struck = {moment: {strike[0] for strike in SCENES[moment].deeds[-1].strikes} for moment in crash_points()}
    assert [moment for moment, moments in struck.items() if moment not in moments] == []


def test_repair_is_done_soon() -> None:
    assert [row.moment for row in ROWS if row.within > SOON] == []


QUICK = {
    *crash_points(),
    *("rq: tick popped", "rq: fetch job popped", "redis: emptied under a fetch job", "redis: emptied, no worker alive"),
    *("fetch: page to be asked for", "collectors: the first dies", "render: the browser crashes"),
}


def is_quick(row: Row) -> bool:
    """The others strike the same steps once more: in another lane, by another collector, or for one key at a time."""
    return row.moment in QUICK


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.moment, marks=() if is_quick(row) else pytest.mark.long) for row in ROWS]
)
def test_it_is_as_the_table_says(row: Row, theatre: Theatre) -> None:
    scene = SCENES[row.moment]
    with Site({**scene.pages, HOOK: "thanks"}).serving() as site:
        theatre.play(scene, site)
        assert left_behind(theatre.stack) == row.left
        began = theatre.now
        repair(theatre, scene, row)
        took = theatre.now - began - scene.waits
        assert took >= row.within / 2 or row.within == AT_ONCE, "the table says more than it needs"
        assert_ended_well(theatre, scene, site)
        assert asked_again(scene, site) == row.asked_again


def repair(theatre: Theatre, scene: Scene, row: Row) -> None:
    """Those who have nothing to repair it with try first; then those who have."""
    if row.who == "no repair needed":
        return
    if row.who == "itself":
        assert theatre.go_on(patience=row.within + scene.waits).how == "done"
        return
    *worse_off, able = REPAIRERS[row.who]
    for step in worse_off:
        theatre.act([*able_to(scene), step])
        assert not theatre.is_over(scene.ends), f"this was enough: {step}"
    steps = [*able_to(scene), able or scene.deeds[-1].steps[-1]]
    assert theatre.act(steps, patience=row.within + scene.waits).how == "done"


def assert_ended_well(theatre: Theatre, scene: Scene, site: Site) -> None:
    """Every page has its outcome, each round was told once, and nothing is left."""
    theatre.act([["wait", LOCK_TTL_S]])
    assert theatre.is_over(scene.ends)
    left = left_behind(theatre.stack)
    assert "rescue job" not in left.rq
    assert theatre.waiting_jobs() == []
    assert site.hits[HOOK] == scene.told
    if not scene.ends:
        assert left.table == "nothing"
        return
    assert theatre.outcomes() == {
        f"{site.url}{path}": scene.outcomes.get(path, "2xx") for path in scene.found or scene.pages
    }
    assert theatre.deaths() == {f"{site.url}{path}": times for path, times in scene.deaths.items()}
    notices = theatre.stack.rows("SELECT * FROM crawler_notice WHERE event <> 'crawl.page' ORDER BY round")
    assert [notice["round"] for notice in notices] == list(range(1, scene.rounds + 1))
    receipt = json.loads(notices[-1]["receipt"])
    assert adds_up(receipt)
    assert receipt["discovered"] == len(theatre.outcomes())
    extracted = theatre.stack.rows("SELECT seen, read FROM crawler_keptextraction")
    number = len(scene.pages)
    assert [(row["seen"], row["read"]) for row in extracted] == ([(number, number)] if scene.extracted else [])


def asked_again(scene: Scene, site: Site) -> int:
    """Pages asked for more often than without the fault."""
    asked = {path: times for path, times in site.hits.items() if path != HOOK}
    return sum(max(0, times - scene.asked.get(path, 1)) for path, times in asked.items())


def test_a_crawl_where_nothing_dies_leaves_nothing(theatre: Theatre) -> None:
    """What the rows are held against."""
    scene = Scene([SCENES["retry: committed"].deeds[0]])
    with Site(scene.pages).serving() as site:
        theatre.play(scene, site)
        assert left_behind(theatre.stack) == Left("finished: 0 open, 5 closed", "nothing", "nothing")
        assert_ended_well(theatre, scene, site)
        assert asked_again(scene, site) == 0
