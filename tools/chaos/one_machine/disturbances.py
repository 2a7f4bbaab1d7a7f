"""What can be done to a scene: a table of disturbances, each a function of the same shape.

A disturbance answers what it did, in a few words, and raises NothingThere when it found nothing to be done to. What it
does later (a server comes back, a stopped process goes on) it leaves to the scene; until then it lasts.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

import redis

from tools.chaos.one_machine import lane_disturbances as lanes
from tools.chaos.one_machine import queue_use, sites
from tools.chaos.one_machine.crew import Member, Role
from tools.chaos.one_machine.scene import FIND_SECONDS, Grounds, MachineScene, NothingThere
from tools.chaos.processes import children_of, send
from tools.chaos.scene import Planned, Schedule

VOLUME, QUEUE, LOGIN = "volume", "queue", "login"
"""What a disturbance needs beside workers: a disk of its own, users of a queue, a site with sessions."""

Strike = Callable[[MachineScene, Random], str]


class InBrowsers(StrEnum):
    """Pages that browser workers have."""

    UNDER_WAY = "those that one of them renders at the moment"
    ONE_WORKER = "the batches of one of them"
    ALL = "the batches of all"


@dataclass(frozen=True)
class Kind:
    name: str
    strike: Strike
    weight: float = 1.0  # how often it is drawn, against the others
    needs: frozenset[str] = frozenset()  # some worker of these roles, and what else there has to be
    resets: bool = True  # pages that were handed out may have to be asked for again
    renders: bool = True  # may happen where pages need a browser
    in_browsers: InBrowsers = InBrowsers.UNDER_WAY  # what it may have rendered again


def kill_stock_worker(scene: MachineScene, dice: Random) -> str:
    return _kill_worker(scene, dice, Role.STOCK)


def kill_own_worker(scene: MachineScene, dice: Random) -> str:
    return _kill_worker(scene, dice, Role.OWN)


def _kill_worker(scene: MachineScene, dice: Random, role: Role) -> str:
    """Mostly one that has pages in hand."""
    member, _ = scene.chosen(dice, role, busy=dice.random() < 0.8)
    dead = scene.crew.kill(member)
    scene.time_refetch(dead)
    return f"kill -9 {member.name} and {len(dead) - 1} children"


def kill_at_claim(scene: MachineScene, dice: Random) -> str:
    """Whoever claims the next batch, before it asks for the first page if we are quick enough."""
    known = scene.holders()
    found = [*scene.awaited(lambda: scene.holders() - known, closely=True)][:1]
    send(found, signal.SIGKILL)
    scene.time_refetch(found)
    return f"kill -9 process {found[0]} as it claimed a batch"


def kill_horse(scene: MachineScene, dice: Random) -> str:
    """The worker lives on and tells RQ of the failure."""
    member, pid = scene.chosen(dice, Role.STOCK, busy=True)
    horses = children_of(pid)
    if not horses:
        raise NothingThere
    send(horses, signal.SIGKILL)
    scene.time_refetch(horses)
    return f"kill -9 the work-horse of {member.name}"


def orphan_horse(scene: MachineScene, dice: Random) -> str:
    """The worker dies alone; its work-horse ends its job and reports as if nothing had happened."""
    member, pid = scene.chosen(dice, Role.STOCK, busy=True)
    send([pid], signal.SIGKILL)
    return f"kill -9 {member.name}, leaving its work-horse"


def kill_manager(scene: MachineScene, dice: Random) -> str:
    """Whoever runs the manager job at this moment, some milliseconds into its tick."""
    into_the_tick = dice.random() < 0.8
    pause = dice.uniform(0, 0.03)
    member = _manager(scene, in_tick=into_the_tick)
    time.sleep(pause)
    dead = scene.crew.kill(member) if member.role is Role.OWN else children_of(member.pid or 0)
    if not dead:
        raise NothingThere
    send(dead, signal.SIGKILL)
    return f"kill -9 the manager in {member.name}"


def freeze_manager(scene: MachineScene, dice: Random) -> str:
    """SIGSTOP whoever runs the manager job, for longer than a lease lasts, while the others go on and report."""
    member = _manager(scene, in_tick=True)
    return _stop(scene, dice.uniform(10.5, 14), member, f"the manager in {member.name}")


def stop_worker(scene: MachineScene, dice: Random) -> str:
    """SIGSTOP for longer than a lease lives; then it goes on as if nothing had happened."""
    member, _ = scene.chosen(dice, Role.STOCK, Role.OWN, busy=True)
    return _stop(scene, dice.uniform(12, 14), member, member.name)


def _stop(scene: MachineScene, seconds: float, member: Member, what: str) -> str:
    stopped = member.family()
    send(stopped, signal.SIGSTOP)
    scene.later(seconds, lambda: send(stopped, signal.SIGCONT))
    return f"SIGSTOP {what} and {len(stopped) - 1} children for {seconds:.1f} s"


def _manager(scene: MachineScene, *, in_tick: bool) -> Member:
    """A worker that runs the manager job; `in_tick`: at a moment at which a tick is at work."""
    return scene.awaited(lambda: _managers(scene) if not in_tick or _ticking(scene) else [], closely=True)[0]


def _managers(scene: MachineScene) -> list[Member]:
    """The workers that are running a manager job, as RQ knows them."""
    try:
        at_work = scene.redis.at_work()
    except redis.RedisError:
        return []
    return [member for member in scene.crew.workers() if at_work.get(member.pid or 0, "").startswith("manage-")]


def _ticking(scene: MachineScene) -> bool:
    """Whether a tick of any collector is at work."""
    try:
        return bool(scene.redis.client.exists(*(keys.lock for keys in scene.frontier.keys.of_all_collectors())))
    except redis.RedisError:
        return False


def kill_everything_for_a_stock_worker(scene: MachineScene, dice: Random) -> str:
    """Redis keeps what it knows, so that one stock worker is enough; and it knows of the crawl: where it has just lost
    all, somebody must have looked since (docs/protocol.md, "What remains")."""
    scene.wait_for(lambda: _has_lifeline(scene) or scene.over, FIND_SECONDS)
    scene.crew.held = True
    scene.crew.kill_everybody()
    with_redis = dice.random() < 0.5
    if with_redis:
        scene.redis.kill()
        scene.redis.start()
    return _revive(scene, dice, Role.STOCK, "Redis too, restarted with its data" if with_redis else "but Redis")


def _has_lifeline(scene: MachineScene) -> bool:
    """Whether a worker that starts finds something to do."""
    try:
        return any(entry.endswith(":planted") for entry in scene.redis.started("crawl"))
    except redis.RedisError:
        return False


def kill_everything_for_an_own_worker(scene: MachineScene, dice: Random) -> str:
    """Even when Redis has forgotten everything, one worker of the project's class is enough."""
    scene.crew.held = True
    scene.crew.kill_everybody()
    scene.redis.kill()
    forgotten = dice.random() < 0.6
    if forgotten:
        scene.redis.empty()
    scene.redis.start()
    return _revive(scene, dice, Role.OWN, f"Redis too, restarted with{'out' if forgotten else ''} its data")


def _revive(scene: MachineScene, dice: Random, role: Role, how: str) -> str:
    """Start one worker, and the others only when it has shown that it needs no help."""
    time.sleep(dice.uniform(0, 1))
    member = dice.choice(scene.crew.workers(role))
    watch = scene.time_revival()
    scene.crew.start(member)
    helped = "" if scene.wait_for(lambda: watch.ended, 60) else ", which did nothing for 60 s"
    scene.crew.held = False
    return f"kill -9 everything ({how}), then start {member.name} alone{helped}"


def restart_redis(scene: MachineScene, dice: Random) -> str:
    """kill -9; it comes back with its data, sometimes without what it was told in the last second."""
    lost = dice.choice([0.0, dice.uniform(0.05, 1.0)])
    written, pause = scene.redis.written(), dice.uniform(0.1, 2.0)

    def kill() -> None:
        scene.redis.kill()
        if lost:
            scene.redis.rewind(written)

    if lost:
        scene.later(lost, kill)
    else:
        kill()
    scene.later(lost + pause, scene.redis.start)
    lack = f" but the last {lost:.2f} s" if lost else ""
    return f"kill -9 Redis, restarted with its data{lack} after {pause:.1f} s"


def empty_redis(scene: MachineScene, dice: Random) -> str:
    """kill -9; it comes back without its data."""
    pause = dice.uniform(0.1, 2.0)
    scene.redis.kill()
    scene.redis.empty()
    scene.later(pause, scene.redis.start)
    return f"kill -9 Redis, restarted without its data after {pause:.1f} s"


def flush_redis(scene: MachineScene, dice: Random) -> str:
    try:
        scene.redis.client.flushall()
    except redis.RedisError:
        raise NothingThere from None
    return "FLUSHALL"


def terminate_twice(scene: MachineScene, dice: Random) -> str:
    """The first SIGTERM asks for an end after the job, the second for an end at once. RQ takes two within a second
    for one."""
    member, pid = scene.chosen(dice, Role.STOCK, Role.OWN, busy=True)
    send([pid], signal.SIGTERM)
    scene.later(dice.uniform(1.05, 1.5), lambda: send([pid] if member.pid == pid else [], signal.SIGTERM))
    return f"SIGTERM {member.name} twice"


def kill_web(scene: MachineScene, dice: Random) -> str:
    if not scene.crew.kill(scene.crew.web):
        raise NothingThere
    return "kill -9 the web process"


def fill_disk(scene: MachineScene, dice: Random) -> str:
    if scene.volume is None:
        raise NothingThere
    seconds = dice.uniform(2, 8)
    scene.volume.fill()
    scene.later(seconds, scene.volume.free)
    return f"no room on the database's disk for {seconds:.1f} s"


def lock_database(scene: MachineScene, dice: Random) -> str:
    return _lock_database(scene, dice.uniform(2, 8))


def lock_database_for_long(scene: MachineScene, dice: Random) -> str:
    """Longer than a writer waits (`timeout` in crawler/settings/environment.py), so that its job fails."""
    return _lock_database(scene, dice.uniform(21, 24))


def _lock_database(scene: MachineScene, seconds: float) -> str:
    if not scene.wait_for(scene.database.lock, FIND_SECONDS):
        raise NothingThere
    scene.later(seconds, scene.database.unlock)
    return f"the database locked for {seconds:.1f} s"


_STOCK, _OWN, _BROWSER, _SCRAPY, _VOLUME, _QUEUE, _LOGIN = (
    frozenset({name}) for name in (Role.STOCK, Role.OWN, Role.BROWSER, Role.SCRAPY, VOLUME, QUEUE, LOGIN)
)

KINDS = {
    kind.name: kind
    for kind in (
        Kind("kill-stock-worker", kill_stock_worker, 2, _STOCK),
        Kind("kill-own-worker", kill_own_worker, 2, _OWN),
        Kind("kill-at-claim", kill_at_claim, 1.5, in_browsers=InBrowsers.ONE_WORKER),
        Kind("kill-horse", kill_horse, 1.5, _STOCK),
        Kind("orphan-horse", orphan_horse, 0.7, _STOCK),
        Kind("kill-manager", kill_manager, 3),
        Kind("freeze-manager", freeze_manager, 1),
        Kind("kill-everything-stock", kill_everything_for_a_stock_worker, 1.5, _STOCK, renders=False),
        Kind("kill-everything-own", kill_everything_for_an_own_worker, 1.5, _OWN, renders=False),
        Kind("restart-redis", restart_redis, 1.5, in_browsers=InBrowsers.ALL),
        # A stock worker that finds nothing queued is never woken.
        Kind("empty-redis", empty_redis, 1.2, _OWN, in_browsers=InBrowsers.ALL),
        Kind("flush-redis", flush_redis, 1.2, _OWN, in_browsers=InBrowsers.ALL),
        Kind("stop-worker", stop_worker, 1.2),
        Kind("terminate-twice", terminate_twice, 1),
        Kind("kill-web", kill_web, 0.5, resets=False, renders=False),
        Kind("fill-disk", fill_disk, 1, _VOLUME),
        Kind("lock-database", lock_database, 1),
        Kind("lock-database-long", lock_database_for_long, 0.15),
        Kind("kill-chromium", lanes.kill_chromium, 4, _BROWSER),
        Kind("kill-renderer", lanes.kill_renderer, 4, _BROWSER),
        Kind("kill-playwright", lanes.kill_playwright, 1.5, _BROWSER),
        Kind("kill-browser-worker", lanes.kill_browser_worker, 4, _BROWSER, in_browsers=InBrowsers.ONE_WORKER),
        Kind("stop-browser-worker", lanes.stop_browser_worker, 1, _BROWSER, in_browsers=InBrowsers.ONE_WORKER),
        Kind("terminate-browser-worker", lanes.terminate_browser_worker, 1, _BROWSER),
        Kind("add-pages", queue_use.add_pages, 3, _QUEUE, resets=False, renders=False),
        Kind("request-again", queue_use.request_again, 3, _QUEUE, resets=False, renders=False),
        Kind("change-options", queue_use.change_options, 3, _QUEUE, resets=False, renders=False),
        Kind("end-sessions", sites.end_sessions, 1, _LOGIN, renders=False),
        Kind("kill-scrapy", lanes.kill_scrapy, 5, _SCRAPY),
        Kind("kill-scrapy-worker", lanes.kill_scrapy_worker, 5, _SCRAPY),
        Kind("kill-everything", lanes.kill_everything_with_browsers, 1.5, _BROWSER, in_browsers=InBrowsers.ALL),
    )
}


def kinds_of(grounds: Grounds, crew: Collection[Role] = tuple(Role)) -> list[Kind]:
    """What can be done to crawls on these grounds by which crew: with browser workers, or without."""
    there = {*crew} - (set() if grounds.renders else {Role.BROWSER}) - (set() if grounds.runs_scrapy else {Role.SCRAPY})
    others = {QUEUE: grounds.is_queue, LOGIN: grounds.logs_in, VOLUME: True}
    there_too = {name for name, is_there in others.items() if is_there}
    kinds = [kind for kind in KINDS.values() if kind.needs <= there | there_too]
    return [kind for kind in kinds if kind.renders or not grounds.renders]


CREWS: tuple[tuple[float, tuple[Role, ...]], ...] = (
    (4, (Role.STOCK, Role.STOCK, Role.OWN)),
    (3, (Role.STOCK, Role.OWN)),
    (1, (Role.OWN, Role.OWN)),
    (1, (Role.STOCK, Role.STOCK)),
    (1, (Role.OWN,)),
    (1, (Role.STOCK,)),
)
"""How often a crew is drawn, and its workers. A lone worker has nobody to wake it."""

BROWSER_CREWS: tuple[tuple[float, tuple[Role, ...]], ...] = (
    (3, (Role.OWN, Role.BROWSER, Role.BROWSER)),
    (1, (Role.STOCK, Role.OWN, Role.BROWSER, Role.BROWSER)),
)
"""The same where pages need a browser."""

LEAST, MOST = 4, 6  # disturbances in a run
USED = 8  # what users do in a run, besides, if it is used as a queue
SESSIONS_ENDED = 3  # times, besides, by a site that wants a log-in


@dataclass(frozen=True)
class MachineSchedule(Schedule):
    crew: tuple[Role, ...] = ()

    def setting(self) -> str:
        return f"workers: {', '.join(self.crew)}"


def draw(seed: int, grounds: Grounds, left_out: Sequence[str] = ()) -> MachineSchedule:
    """The schedule of a seed. `left_out`: kinds that are not possible on this machine."""
    dice, crews = Random(seed), BROWSER_CREWS if grounds.renders else CREWS
    crew = dice.choices([crew for _, crew in crews], [weight for weight, _ in crews])[0] + grounds.more
    possible = kinds_of(grounds, crew)
    kinds = [kind for kind in possible if kind.name not in left_out and not kind.needs & {QUEUE, LOGIN}]
    number = dice.randint(LEAST, MOST)
    moments = sorted(dice.uniform(0.02, 0.95) for _ in range(number))
    if dice.random() < 0.3:
        moments[-1] = 1.0  # around the end: the last reports, the notice, the cleaning up
    planned = tuple(
        Planned(kind.name, round(at, 3), settled=dice.random() < 0.6, dice=dice.randrange(1 << 30))
        for kind, at in zip(_without_repetition(kinds, number, dice), moments, strict=True)
    )
    for name, times in ((QUEUE, USED), (LOGIN, SESSIONS_ENDED)):
        if besides := [kind for kind in possible if name in kind.needs]:
            planned = _with(planned, besides, times, dice)
    return MachineSchedule(seed, planned, crew)


def _with(planned: tuple[Planned, ...], kinds: Sequence[Kind], number: int, dice: Random) -> tuple[Planned, ...]:
    """Users and sites do the same again and again, and do not wait for anything to settle."""
    drawn = dice.choices(kinds, [kind.weight for kind in kinds], k=number)
    others = (Planned(kind.name, round(dice.uniform(0.02, 1), 3), dice.randrange(1 << 30)) for kind in drawn)
    return tuple(sorted((*planned, *others), key=lambda each: each.at))


def _without_repetition(kinds: Sequence[Kind], number: int, dice: Random) -> list[Kind]:
    """Weighted, each kind once."""
    left, drawn = list(kinds), []
    for _ in range(number):
        kind = dice.choices(left, [kind.weight for kind in left])[0]
        left.remove(kind)
        drawn.append(kind)
    return drawn
