"""Whatever happens, in whatever order, a crawl ends exactly: once, with all its pages, or as people ended it.

Hypothesis drives the real verbs (tests/manager/machine) over a real Redis, a real database and a site of two hosts.
Workers die at any step, jobs are lost or delivered twice, reports come late, two ticks work at once, people pause,
resume, cancel, delete and send again, Redis forgets or remembers too well, the clock stands still or jumps. To look
further: `bin/test tests/manager/test_state_machine.py --stories 300 -n 2`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, assume
from hypothesis import settings as story_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from crawler.core.pages.outcomes import Outcome
from tests.content_storages import kept_in
from tests.manager.machine.happenings import REACHED_BY, Variety
from tests.manager.machine.hooked import ON_PAGE
from tests.manager.machine.machine import MAX_ATTEMPTS
from tests.manager.machine.stage import crash_points
from tests.manager.machine.story import Story
from tests.manager.machine.varieties import COLLECTING, MADE_FOR, RENDERING, VARIETIES
from tests.manager.machine.world import PLAN, World
from tests.marking import long_unless

pytestmark = [
    # Those who die here leave sockets and files to the garbage collector, where a system would close them.
    pytest.mark.filterwarnings(
        "ignore:unclosed <(socket|crawler.http.resettable):ResourceWarning", "ignore:Unclosed file:ResourceWarning"
    ),
    pytest.mark.usefixtures("_the_dead_are_buried"),
]

HAPPENINGS = 30  # in a story, at most; with the work between them a crawl of this site comes to its end or near it
AFTERWARDS = 5  # happenings behind a death at a crash point
JOBS_TO_THE_END = 400  # of a story in which little happens
QUICK = ("everything", "all and collectors")
"""The varieties of which `bin/test` tells a story; the others have more of one kind of happening."""

JOBS = (0, 0, 1, 2, 3, 5)  # that are run between two happenings


def what_may_happen(machine: Machine) -> st.SearchStrategy[str]:
    """Each as often as the variety says."""
    return st.sampled_from([what for what, times in machine.variety.happenings.items() for _ in range(times)])


class Machine(RuleBasedStateMachine):
    """Which rule is next is Hypothesis's choice; so is the seed of what a happening decides for itself."""

    world: ClassVar[World]
    variety: ClassVar[Variety]

    @initialize(seed=st.integers(0, 2**32 - 1))
    def a_crawl_begins(self, seed: int) -> None:
        assume(seed)  # or the first story of each variety is the simplest: one worker dies after the other
        self.story = Story(self.world, self.variety, Random(seed))
        self.story.open()

    @rule(jobs=st.sampled_from(JOBS), what=st.runner().flatmap(what_may_happen))
    def something_happens(self, jobs: int, what: str) -> None:
        self.story.go_on(jobs, what)

    @invariant()
    def every_promise_holds(self) -> None:
        self.story.check()

    def teardown(self) -> None:
        """Left to one worker that starts, or looked after, the crawls come to their end."""
        if hasattr(self, "story"):
            self.story.close()


@pytest.fixture
def _the_dead_are_buried() -> Iterator[None]:
    yield
    gc.collect()  # or the warning comes in another test


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(PLAN).serving() as world:
        yield world


@pytest.mark.parametrize("variety", long_unless(QUICK, VARIETIES))
def test_a_crawl_ends_exactly(variety: str, world: World, pytestconfig: pytest.Config) -> None:
    told = type(f"{variety.title()}Machine", (Machine,), {"world": world, "variety": VARIETIES[variety]})
    run_state_machine_as_test(
        told,
        settings=story_settings(
            max_examples=pytestconfig.getoption("stories") or (5 if pytestconfig.getoption("all") else 1),
            stateful_step_count=HAPPENINGS,
            deadline=None,
            derandomize=True,  # the same stories each time
            database=None,
            phases=[Phase.generate],  # a shorter story would take minutes to find; the steps are printed
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.long  # of real processes, `tests.faults` has each death in every run
@pytest.mark.parametrize(
    "moment", [moment for moment in (*crash_points(), ON_PAGE) if moment.partition(":")[0] in REACHED_BY]
)
def test_a_death_at_any_crash_point_is_survived(moment: str, world: World, tmp_path: Path, settings: Any) -> None:
    """However seldom the stories above come there."""
    kept_in(tmp_path, settings)
    made_for = [variety for begin, variety in MADE_FOR.items() if moment.startswith(begin)]
    survive(moment, world, made_for[0] if made_for else VARIETIES["disturbed"])


@pytest.mark.long
@pytest.mark.parametrize("moment", [moment for moment in crash_points() if moment.startswith(("tick:", "collect:"))])
def test_a_death_of_one_of_several_collectors_is_survived(moment: str, world: World) -> None:
    survive(moment, world, COLLECTING)


@pytest.mark.long
def test_a_page_whose_browsers_crash_has_three_attempts_and_then_holds_no_place(world: World) -> None:
    story = Story(world, RENDERING, Random(1))
    try:
        story.open()
        story.browser.deadly.update({"south/hub": MAX_ATTEMPTS, "north/leaf2": MAX_ATTEMPTS - 1})
        for _ in range(JOBS_TO_THE_END):
            if story.ledgers[0].is_over:
                break
            story.go_on(1, "a job")
            story.check()
        rows = {world.name(row.url): row for row in story.ledgers[0].rows()}
        ends = [(rows[name].outcome, rows[name].attempts, rows[name].deaths) for name in ("south/hub", "north/leaf2")]
        assert ends == [(Outcome.CRASHED, MAX_ATTEMPTS, 0), (Outcome.SUCCESS, MAX_ATTEMPTS, 0)]
        assert story.browser.crashed == {"south/hub": MAX_ATTEMPTS, "north/leaf2": MAX_ATTEMPTS - 1}
        story.check_that_each_place_is_free()
    finally:
        story.close()


def survive(moment: str, world: World, variety: Variety) -> None:
    chance = Random(moment)
    story = Story(world, variety, chance)
    try:
        story.open_with_a_death(moment)
        story.check()
        for what in chance.sample(list(variety.happenings), AFTERWARDS):
            story.go_on(chance.choice(JOBS), what)
            story.check()
    finally:
        story.close()
