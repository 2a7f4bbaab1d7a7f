"""The scenarios by name: the setting of a run, its faults, and its promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from crawler.core.options.catalogue import CrawlOptions
from tools.chaos.hosts import faults
from tools.chaos.hosts.evidence import Promises
from tools.chaos.hosts.scene import HostsScene, Setting
from tools.chaos.scene import Planned, Schedule

RECOVER_SECONDS = 45.0  # a fault waits so long for the crawls to go on after the one before
LEAST, MOST = 3, 5  # faults in a mixture
SKEWED_SHARE = 0.3  # of the mixtures have two worker hosts whose clocks are off
SKEW_SECONDS = 600.0

CONCURRENCY = CrawlOptions().concurrency  # connections to a host, unless a crawl has its own number

Strike = Callable[[HostsScene, float], None]

USUAL, EXACT = Setting(), Promises()


@dataclass(frozen=True)
class Step:
    """One fault of a scenario. `share`: of every site, which must have been answered first. `seconds`: how long it
    lasts, at least and at most."""

    share: float
    strike: Strike
    seconds: tuple[float, float] = (0.0, 0.0)
    recovers: bool = False  # afterwards wait until every crawl goes on
    dice: int | None = None  # seeds what it decides itself


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    steps: tuple[Step, ...] = ()
    setting: Setting = USUAL
    promises: Promises = EXACT

    @property
    def is_autoscaled(self) -> bool:
        return self.setting.autoscaled

    def strike(self, scene: HostsScene) -> None:
        for step in self.steps:
            scene.await_share(step.share)
            if scene.over or scene.out_of_time:
                scene.say("the crawls are over: it is too late for another fault")
                return
            if step.dice is not None:
                scene.dice = Random(step.dice)
            least, most = step.seconds
            step.strike(scene, scene.dice.uniform(least, most) if least < most else least)
            if step.recovers:
                scene.await_progress(scene.struck[-1].ended if scene.struck else 0.0, RECOVER_SECONDS)

    def changed(self, *, stock: bool, autoscaled: bool, containers: bool, short: bool) -> Scenario:
        """The same with RQ's own workers, which tell RQ of themselves only when they begin; with workers that come and
        go by the number that is useful; with what the container image runs; in less time, for a test."""
        setting, promises = self.setting, self.promises
        if stock:
            setting, promises = replace(setting, stock=True), replace(promises, registered=False)
        if autoscaled:
            setting = replace(setting, autoscaled=True)
            promises = replace(promises, autoscaled=True, connections=CONCURRENCY)
        if containers:
            setting = replace(setting, containers=True)
        if short:
            setting = replace(setting, pages=setting.pages // 2, seconds=200.0)
        return replace(self, setting=setting, promises=promises)


# A stall is longer than a lease lasts; before leases are looked at, it is shorter than the tick's lock.
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("exact", "nothing happens", promises=Promises(is_calm=True, no_deaths=True)),
        Scenario(
            "partition",
            "PostgreSQL, Redis, a worker cut off",
            (
                Step(0.15, faults.cut_database, (5, 40), recovers=True),
                Step(0.3, faults.cut_redis, (5, 40), recovers=True),
                Step(0.45, faults.cut_worker, (5, 40), recovers=True),  # the last, because the crawls go on meanwhile
            ),
            Setting(seconds=420.0),
            Promises(strikes=3),
        ),
        Scenario(
            "vanish",
            "a worker's machine is gone in the middle of a tick",
            (Step(0.25, faults.vanish),),
            promises=Promises(vanished=True, strikes=1),
        ),
        Scenario(
            "redis-lost",
            "Redis comes back empty",
            (Step(0.3, faults.lose_redis, (0.5, 3)),),
            promises=Promises(registered=True, strikes=1),
        ),
        Scenario(
            "postgres-restart",
            "PostgreSQL is stopped",
            (Step(0.2, faults.restart_database, recovers=True), Step(0.5, faults.restart_database, (20, 20))),
            promises=Promises(strikes=2),
        ),
        Scenario(
            "power",
            "a worker host loses its power, twice",
            (Step(0.2, faults.power, (5, 20)), Step(0.5, faults.power, (5, 20))),
            promises=Promises(strikes=2),
        ),
        Scenario(
            "skew",
            "two worker hosts whose clocks are ten minutes off",
            setting=Setting(skews=(600.0, -600.0)),
            promises=Promises(is_calm=True, no_deaths=True),
        ),
        Scenario(
            "politeness",
            "two crawls of one site that is asked twice a second",
            setting=Setting(pages=36, latency=0.1, sites=1, options={"delay": 0.5}),
            promises=Promises(delay=0.5, connections=4),
        ),
        Scenario(
            "stall",
            "the worker at a tick is held up",
            (
                Step(0.15, faults.stall_before_leases, (10.5, 11.8)),
                Step(0.35, faults.stall_in_transaction, (10.5, 15)),
                Step(0.55, faults.stall_before_leases, (10.5, 11.8)),
            ),
            Setting(pages=1000, latency=0.12),  # batches end while the tick stands still
            Promises(no_deaths=True, strikes=1),
        ),
        Scenario(
            "autoscale",
            "autoscaled: the first host is cut off, an autoscaler, a worker, a host are killed",
            (
                Step(0.0, faults.cut_off_first, (20, 30)),
                Step(0.3, faults.kill_autoscaler, (3, 10), recovers=True),
                Step(0.45, faults.kill_worker, (3, 10), recovers=True),
                Step(0.6, faults.power, (3, 10), recovers=True),
            ),
            Setting(autoscaled=True, seconds=420.0),
            Promises(autoscaled=True, connections=CONCURRENCY, strikes=4),
        ),
    )
}

KINDS: dict[str, tuple[Strike, float, float]] = {
    "cut-worker": (faults.cut_worker, 5.0, 40.0),
    "cut-redis": (faults.cut_redis, 5.0, 40.0),
    "cut-database": (faults.cut_database, 5.0, 40.0),
    "vanish": (faults.vanish, 30.0, 45.0),  # until another machine takes its place
    "redis-lost": (faults.lose_redis, 0.5, 5.0),
    "postgres-restart": (faults.restart_database, 0.0, 20.0),
    "power": (faults.power, 5.0, 25.0),
    "stall": (faults.stall, 10.0, 15.0),
}
"""The faults of mixtures, and how long each lasts: at least, at most."""

KINDS_OF_AUTOSCALED: dict[str, tuple[Strike, float, float]] = {
    "kill-autoscaler": (faults.kill_autoscaler, 0.0, 10.0),
    "kill-worker": (faults.kill_worker, 0.0, 5.0),
}
"""Those that only autoscaled workers know."""


@dataclass(frozen=True)
class HostsSchedule(Schedule):
    skews: tuple[float, ...] = ()

    def setting(self) -> str:
        return "clocks off" if self.skews else ""


def draw(seed: int, *, autoscaled: bool = False) -> HostsSchedule:
    """The schedule of a seed. No kind comes twice."""
    known = {**KINDS, **KINDS_OF_AUTOSCALED} if autoscaled else KINDS
    dice = Random(seed)
    number = dice.randint(LEAST, MOST)
    kinds = dice.sample(sorted(known), number)
    moments = sorted(dice.uniform(0.05, 0.8) for _ in kinds)
    planned = tuple(
        Planned(kind, round(at, 3), seconds=round(dice.uniform(*known[kind][1:]), 1), dice=dice.randrange(1 << 30))
        for kind, at in zip(kinds, moments, strict=True)
    )
    return HostsSchedule(seed, planned, (SKEW_SECONDS, -SKEW_SECONDS) if dice.random() < SKEWED_SHARE else ())


def mixture(seed: int, *, autoscaled: bool = False) -> Scenario:
    """The faults that a seed draws."""
    schedule, known = draw(seed, autoscaled=autoscaled), {**KINDS, **KINDS_OF_AUTOSCALED}
    steps = [
        Step(each.at, known[each.kind][0], (each.seconds or 0.0,) * 2, recovers=True, dice=each.dice)
        for each in schedule.planned
    ]
    return Scenario("mixture", str(schedule), (*steps,), Setting(pages=700, skews=schedule.skews, seconds=700.0))
