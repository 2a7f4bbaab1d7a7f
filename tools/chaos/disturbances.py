"""What can be done to a scene: a table of disturbances, each a function of the same shape.

A disturbance answers what it did, in a few words, or None when it found nothing to be done to. What it does later (a
server comes back, a stopped process goes on) it leaves to the scene; until then it lasts.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

import redis

from tools.chaos import browser_disturbances as browsers
from tools.chaos import members
from tools.chaos import queue_disturbances as queue
from tools.chaos import scrapy_disturbances as scrapy
from tools.chaos.processes import Place, Role, children_of, family, send
from tools.chaos.scene import Scene
from tools.chaos.targets import FIND_SECONDS, chosen, holders

Strike = Callable[[Scene, Random], str | None]


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
    needs: frozenset[Role] = frozenset()  # some worker of these roles
    resets: bool = True  # pages that were handed out may have to be asked for again
    volume: bool = False  # needs a volume of its own
    renders: bool = True  # may happen where pages need a browser
    queue: bool = False  # what a user does to a crawl that is used as a queue
    in_browsers: InBrowsers = InBrowsers.UNDER_WAY  # what it may have rendered again
    login: bool = False  # what a site does to its sessions


def kill_stock_worker(scene: Scene, dice: Random) -> str | None:
    return _kill_worker(scene, dice, Role.STOCK)


def kill_own_worker(scene: Scene, dice: Random) -> str | None:
    return _kill_worker(scene, dice, Role.OWN)


def _kill_worker(scene: Scene, dice: Random, role: Role) -> str | None:
    """Mostly one that has pages in hand."""
    place = chosen(scene, dice, role, busy=dice.random() < 0.8)
    if place is None:
        return None
    dead = scene.crew.kill(place)
    scene.time_refetch(dead)
    return f"kill -9 {place.name} and {len(dead) - 1} children"


def kill_at_claim(scene: Scene, dice: Random) -> str | None:
    """Whoever claims the next batch, before it asks for the first page if we are quick enough."""
    known = holders(scene)
    found: list[int] = []

    def look() -> bool:
        until = time.monotonic() + 0.05
        while not found and time.monotonic() < until:
            found.extend(holders(scene) - known)
        return bool(found)

    if not scene.wait_for(lambda: look() or scene.over, FIND_SECONDS) or not found:
        return None
    send(found[:1], signal.SIGKILL)
    scene.time_refetch(found[:1])
    return f"kill -9 process {found[0]} as it claimed a batch"


def kill_horse(scene: Scene, dice: Random) -> str | None:
    """The worker lives on and tells RQ of the failure."""
    place = chosen(scene, dice, Role.STOCK, busy=True)
    horses = children_of(place.pid) if place is not None and place.pid else []
    if place is None or not horses:
        return None
    send(horses, signal.SIGKILL)
    scene.time_refetch(horses)
    return f"kill -9 the work-horse of {place.name}"


def orphan_horse(scene: Scene, dice: Random) -> str | None:
    """The worker dies alone; its work-horse ends its job and reports as if nothing had happened."""
    place = chosen(scene, dice, Role.STOCK, busy=True)
    if place is None or place.pid is None:
        return None
    send([place.pid], signal.SIGKILL)
    return f"kill -9 {place.name}, leaving its work-horse"


def kill_manager(scene: Scene, dice: Random) -> str | None:
    """Whoever runs the manager job at this moment, some milliseconds into its tick."""
    into_the_tick = dice.random() < 0.8
    pause = dice.uniform(0, 0.03)
    found: list[Place] = []

    def look() -> bool:
        until = time.monotonic() + 0.05
        while not found and time.monotonic() < until:
            found.extend(_managers(scene) if not into_the_tick or _ticking(scene) else [])
        return bool(found)

    if not scene.wait_for(lambda: look() or scene.over, FIND_SECONDS) or not found:
        return None
    time.sleep(pause)
    place = found[0]
    dead = scene.crew.kill(place) if place.role is Role.OWN else children_of(place.pid or 0)
    send(dead, signal.SIGKILL)
    return f"kill -9 the manager in {place.name}" if dead else None


def freeze_manager(scene: Scene, dice: Random) -> str | None:
    """SIGSTOP whoever runs the manager job, for longer than a lease lasts, while the others go on and report."""
    found: list[Place] = []

    def look() -> bool:
        until = time.monotonic() + 0.05
        while not found and time.monotonic() < until:
            found.extend(_managers(scene) if _ticking(scene) else [])
        return bool(found)

    if not scene.wait_for(lambda: look() or scene.over, FIND_SECONDS) or not found:
        return None
    seconds, stopped = dice.uniform(10.5, 14), family(found[0])
    send(stopped, signal.SIGSTOP)
    scene.later(seconds, lambda: send(stopped, signal.SIGCONT))
    return f"SIGSTOP the manager in {found[0].name} for {seconds:.1f} s"


def _managers(scene: Scene) -> list[Place]:
    """The workers that are running a manager job, as RQ knows them."""
    try:
        at_work = scene.memory.at_work()
    except redis.RedisError:
        return []
    return [place for place in scene.crew.workers() if at_work.get(place.pid or 0, "").startswith("manage-")]


def _ticking(scene: Scene) -> bool:
    """Whether a tick of any collector is at work."""
    try:
        return bool(scene.memory.client.exists(*(keys.lock for keys in scene.frontier.keys.of_all_collectors())))
    except redis.RedisError:
        return False


def kill_everything_for_a_stock_worker(scene: Scene, dice: Random) -> str:
    """Redis keeps what it knows, so that one stock worker is enough; and it knows of the crawl: where it has just lost
    all, somebody must have looked since (docs/protocol.md, "What remains")."""
    scene.wait_for(lambda: _has_lifeline(scene) or scene.over, FIND_SECONDS)
    scene.crew.held = True
    scene.crew.kill_everybody()
    with_redis = dice.random() < 0.5
    if with_redis:
        scene.memory.kill()
        scene.memory.start()
    return _revive(scene, dice, Role.STOCK, "Redis too, restarted with its data" if with_redis else "but Redis")


def _has_lifeline(scene: Scene) -> bool:
    """Whether a worker that starts finds something to do."""
    try:
        return any(entry.endswith(":planted") for entry in scene.memory.started("crawl"))
    except redis.RedisError:
        return False


def kill_everything_for_an_own_worker(scene: Scene, dice: Random) -> str:
    """Even when Redis has forgotten everything, one worker of the project's class is enough."""
    scene.crew.held = True
    scene.crew.kill_everybody()
    scene.memory.kill()
    forgotten = dice.random() < 0.6
    if forgotten:
        scene.memory.empty()
    scene.memory.start()
    return _revive(scene, dice, Role.OWN, f"Redis too, restarted with{'out' if forgotten else ''} its data")


def _revive(scene: Scene, dice: Random, role: Role, how: str) -> str:
    """Start one worker, and the others only when it has shown that it needs no help."""
    time.sleep(dice.uniform(0, 1))
    place = dice.choice(scene.crew.workers(role))
    watch = scene.time_revival()
    scene.crew.start(place)
    helped = "" if scene.wait_for(lambda: watch.ended, 60) else ", which did nothing for 60 s"
    scene.crew.held = False
    return f"kill -9 everything ({how}), then start {place.name} alone{helped}"


def restart_redis(scene: Scene, dice: Random) -> str:
    """kill -9; it comes back with its data, sometimes without what it was told in the last second."""
    lost = dice.choice([0.0, dice.uniform(0.05, 1.0)])
    written, pause = scene.memory.written(), dice.uniform(0.1, 2.0)

    def kill() -> None:
        scene.memory.kill()
        if lost:
            scene.memory.rewind(written)

    if lost:
        scene.later(lost, kill)
    else:
        kill()
    scene.later(lost + pause, scene.memory.start)
    lack = f" but the last {lost:.2f} s" if lost else ""
    return f"kill -9 Redis, restarted with its data{lack} after {pause:.1f} s"


def empty_redis(scene: Scene, dice: Random) -> str:
    """kill -9; it comes back without its data."""
    pause = dice.uniform(0.1, 2.0)
    scene.memory.kill()
    scene.memory.empty()
    scene.later(pause, scene.memory.start)
    return f"kill -9 Redis, restarted without its data after {pause:.1f} s"


def flush_redis(scene: Scene, dice: Random) -> str | None:
    try:
        scene.memory.client.flushall()
    except redis.RedisError:
        return None
    return "FLUSHALL"


def stop_worker(scene: Scene, dice: Random) -> str | None:
    """SIGSTOP for longer than a lease lives; then it goes on as if nothing had happened."""
    place = chosen(scene, dice, Role.STOCK, Role.OWN, busy=True)
    if place is None:
        return None
    seconds, stopped = dice.uniform(12, 14), family(place)
    send(stopped, signal.SIGSTOP)
    scene.later(seconds, lambda: send(stopped, signal.SIGCONT))
    return f"SIGSTOP {place.name} and {len(stopped) - 1} children for {seconds:.1f} s"


def terminate_twice(scene: Scene, dice: Random) -> str | None:
    """The first SIGTERM asks for an end after the job, the second for an end at once. RQ takes two within a second
    for one."""
    place = chosen(scene, dice, Role.STOCK, Role.OWN, busy=True)
    pid = place.pid if place is not None else None
    if place is None or pid is None:
        return None
    send([pid], signal.SIGTERM)
    scene.later(dice.uniform(1.05, 1.5), lambda: send([pid] if place.pid == pid else [], signal.SIGTERM))
    return f"SIGTERM {place.name} twice"


def kill_web(scene: Scene, dice: Random) -> str | None:
    return "kill -9 the web process" if scene.crew.kill(scene.crew.web) else None


def fill_disk(scene: Scene, dice: Random) -> str | None:
    if scene.volume is None:
        return None
    seconds = dice.uniform(2, 8)
    scene.volume.fill()
    scene.later(seconds, scene.volume.free)
    return f"no room on the database's disk for {seconds:.1f} s"


def lock_database(scene: Scene, dice: Random) -> str | None:
    return _lock_database(scene, dice.uniform(2, 8))


def lock_database_for_long(scene: Scene, dice: Random) -> str | None:
    """Longer than a writer waits (`timeout` in settings/environment.py), so that its job fails."""
    return _lock_database(scene, dice.uniform(21, 24))


def _lock_database(scene: Scene, seconds: float) -> str | None:
    if not scene.wait_for(scene.database.lock, FIND_SECONDS):
        return None
    scene.later(seconds, scene.database.unlock)
    return f"the database locked for {seconds:.1f} s"


_STOCK, _OWN, _BROWSER = frozenset({Role.STOCK}), frozenset({Role.OWN}), frozenset({Role.BROWSER})

_SCRAPY = frozenset({Role.SCRAPY})

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
        Kind("fill-disk", fill_disk, 1, volume=True),
        Kind("lock-database", lock_database, 1),
        Kind("lock-database-long", lock_database_for_long, 0.15),
        Kind("kill-chromium", browsers.kill_chromium, 4, _BROWSER),
        Kind("kill-renderer", browsers.kill_renderer, 4, _BROWSER),
        Kind("kill-playwright", browsers.kill_playwright, 1.5, _BROWSER),
        Kind("kill-browser-worker", browsers.kill_browser_worker, 4, _BROWSER, in_browsers=InBrowsers.ONE_WORKER),
        Kind("stop-browser-worker", browsers.stop_browser_worker, 1, _BROWSER, in_browsers=InBrowsers.ONE_WORKER),
        Kind("terminate-browser-worker", browsers.terminate_browser_worker, 1, _BROWSER),
        Kind("add-pages", queue.add_pages, 3, resets=False, renders=False, queue=True),
        Kind("request-again", queue.request_again, 3, resets=False, renders=False, queue=True),
        Kind("change-options", queue.change_options, 3, resets=False, renders=False, queue=True),
        Kind("end-sessions", members.end_sessions, renders=False, login=True),
        Kind("kill-scrapy", scrapy.kill_scrapy, 5, _SCRAPY),
        Kind("kill-scrapy-worker", scrapy.kill_scrapy_worker, 5, _SCRAPY),
        Kind("kill-everything", browsers.kill_everything_with_browsers, 1.5, _BROWSER, in_browsers=InBrowsers.ALL),
    )
}


def kinds_of(*, rendered: bool, queue: bool = False, scrapy: bool = False, login: bool = False) -> list[Kind]:
    """What can be done to a crawl with browser workers, or to one without; what users do only to a `queue`, what
    strikes workers for Scrapy only where they run, and what ends sessions only where there is a `login`."""
    kinds = [kind for kind in KINDS.values() if (queue or not kind.queue) and (login or not kind.login)]
    kinds = [kind for kind in kinds if scrapy or Role.SCRAPY not in kind.needs]
    return [kind for kind in kinds if (kind.renders if rendered else Role.BROWSER not in kind.needs)]
