"""The scenarios by name: what a run begins with, what is done in it, and what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from crawler.core.options.catalogue import CrawlOptions
from tools.hosts import faults
from tools.hosts.scene import Scene, Setting
from tools.hosts.schedule import Schedule, draw
from tools.hosts.verdict import Promises

RECOVER_SECONDS = 45.0  # a fault of a mixture waits so long for the crawls to go on after the one before


CONCURRENCY = CrawlOptions().concurrency  # connections to a host, unless a crawl has its own number

USUAL, EXACT = Setting(), Promises()


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    strike: Callable[[Scene], None]
    setting: Setting = USUAL
    promises: Promises = EXACT

    @property
    def is_autoscaled(self) -> bool:
        return self.setting.autoscaled

    def stocked(self) -> Scenario:
        """The same with RQ's own workers, which tell RQ of themselves only when they begin."""
        promises = replace(self.promises, registered=False)
        return replace(self, setting=replace(self.setting, stock=True), promises=promises)

    def autoscaled(self) -> Scenario:
        """The same with workers that come and go by the number that is useful."""
        promises = replace(self.promises, autoscaled=True, connections=CONCURRENCY)
        return replace(self, setting=replace(self.setting, autoscaled=True), promises=promises)

    def contained(self) -> Scenario:
        """The same with what the container image runs."""
        return replace(self, setting=replace(self.setting, containers=True))

    def shortened(self) -> Scenario:
        """The same in less time, for a test."""
        return replace(self, setting=replace(self.setting, pages=self.setting.pages // 2, seconds=200.0))


def _exact(scene: Scene) -> None:
    """Nothing is done."""


def _partition(scene: Scene) -> None:
    for share, fault, seconds in (
        (0.15, faults.cut_database, scene.dice.uniform(5, 40)),
        (0.3, faults.cut_redis, scene.dice.uniform(5, 40)),
        (0.45, faults.cut_worker, scene.dice.uniform(5, 40)),  # the last, because the crawls go on meanwhile
    ):
        scene.await_share(share)
        fault(scene, seconds)
        _recover(scene)


def _vanish(scene: Scene) -> None:
    scene.await_share(0.25)
    faults.vanish(scene, 0)


def _redis_lost(scene: Scene) -> None:
    scene.await_share(0.3)
    faults.lose_redis(scene, scene.dice.uniform(0.5, 3.0))


def _postgres_restart(scene: Scene) -> None:
    scene.await_share(0.2)
    faults.restart_database(scene, 0.0)
    _recover(scene)
    scene.await_share(0.5)
    faults.restart_database(scene, 20.0)


def _power(scene: Scene) -> None:
    for share in (0.2, 0.5):
        scene.await_share(share)
        faults.power(scene, scene.dice.uniform(5, 20))


def _stall(scene: Scene) -> None:
    for share, stall in (
        (0.15, faults.stall_before_leases),
        (0.35, faults.stall_in_transaction),
        (0.55, faults.stall_before_leases),
    ):
        scene.await_share(share)
        # Longer than a lease lasts; before leases are looked at, shorter than the tick's lock, or another takes over.
        stall(scene, scene.dice.uniform(10.5, 11.8 if stall is faults.stall_before_leases else 15.0))


def _autoscale(scene: Scene) -> None:
    faults.cut_off_first(scene, scene.dice.uniform(20, 30))
    for share, fault in ((0.3, faults.kill_autoscaler), (0.45, faults.kill_worker), (0.6, faults.power)):
        scene.await_share(share)
        fault(scene, scene.dice.uniform(3, 10))
        _recover(scene)


def _recover(scene: Scene) -> None:
    """Until every crawl goes on after the last fault."""
    scene.await_progress(scene.faults[-1].ended if scene.faults else 0.0, RECOVER_SECONDS)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("exact", "nothing happens", _exact, promises=Promises(is_calm=True, no_deaths=True)),
        Scenario(
            "partition",
            "PostgreSQL, Redis, a worker cut off",
            _partition,
            Setting(seconds=420.0),
            Promises(strikes=3),
        ),
        Scenario(
            "vanish",
            "a worker's machine is gone in the middle of a tick",
            _vanish,
            promises=Promises(vanished=True, strikes=1),
        ),
        Scenario("redis-lost", "Redis comes back empty", _redis_lost, promises=Promises(registered=True, strikes=1)),
        Scenario("postgres-restart", "PostgreSQL is stopped", _postgres_restart, promises=Promises(strikes=2)),
        Scenario("power", "a worker host loses its power, twice", _power, promises=Promises(strikes=2)),
        Scenario(
            "skew",
            "two worker hosts whose clocks are ten minutes off",
            _exact,
            Setting(skews=(600.0, -600.0)),
            Promises(is_calm=True, no_deaths=True),
        ),
        Scenario(
            "politeness",
            "two crawls of one site that is asked twice a second",
            _exact,
            Setting(pages=36, latency=0.1, sites=1, options={"delay": 0.5}),
            Promises(delay=0.5, connections=4),
        ),
        Scenario(
            "stall",
            "the worker at a tick is held up",
            _stall,
            Setting(pages=1000, latency=0.12),  # batches end while the tick stands still
            Promises(no_deaths=True, strikes=1),
        ),
        Scenario(
            "autoscale",
            "autoscaled: the first host is cut off, an autoscaler, a worker, a host are killed",
            _autoscale,
            Setting(autoscaled=True, seconds=420.0),
            Promises(autoscaled=True, connections=CONCURRENCY, strikes=4),
        ),
    )
}

KINDS: dict[str, Callable[[Scene, float], None]] = {
    "cut-worker": faults.cut_worker,
    "cut-redis": faults.cut_redis,
    "cut-database": faults.cut_database,
    "vanish": faults.vanish,
    "redis-lost": faults.lose_redis,
    "postgres-restart": faults.restart_database,
    "power": faults.power,
    "stall": faults.stall,
    "kill-autoscaler": faults.kill_autoscaler,
    "kill-worker": faults.kill_worker,
}


def mixture(seed: int, *, autoscaled: bool = False) -> Scenario:
    """What a seed draws."""
    schedule = draw(seed, autoscaled=autoscaled)
    return Scenario(
        "mixture",
        str(schedule),
        lambda scene: _follow(scene, schedule),
        Setting(pages=700, skews=schedule.skews, seconds=700.0),
    )


def _follow(scene: Scene, schedule: Schedule) -> None:
    for planned in schedule.planned:
        scene.await_share(planned.at)
        if scene.over or scene.out_of_time:
            scene.say(f"{planned.kind}: too late, the crawls are over")
            return
        scene.dice = Random(planned.dice)
        KINDS[planned.kind](scene, planned.seconds)
        _recover(scene)
