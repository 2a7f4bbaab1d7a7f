"""What can be done to hosts and to the network between them. Each is a function of the scene that notes what it did.

They last as long as they are told to, in seconds, and return when they are over; a machine that vanished stays away.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from tools.chaos.hosts.host import Host
from tools.chaos.hosts.scene import HostsScene
from tools.chaos.hosts.workers import WORKER_CLASS
from tools.chaos.processes import command_of, send
from tools.chaos.scene import Struck

FIND_SECONDS = 40.0  # how long a tick is waited for that can be struck
REGISTER_SECONDS = 30.0  # how long it is waited until RQ knows the workers
AUTOSCALER = "crawler.launch.autoscale"  # in its command line
CONFIRM_SECONDS = 0.1  # a lock that a stopped process holds is still there after so long

_IN_TRANSACTION = """
SELECT DISTINCT host(a.client_addr) AS address FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.relation = 'crawler_crawl'::regclass AND l.granted AND l.mode IN ('RowShareLock', 'RowExclusiveLock')
    AND a.client_addr IS NOT NULL AND a.wait_event_type IS DISTINCT FROM 'Lock'
"""
_UNLOCKED = "SELECT id FROM crawler_crawl WHERE state = 'running' FOR UPDATE SKIP LOCKED"
_RUNNING = "SELECT id FROM crawler_crawl WHERE state = 'running'"


@contextmanager
def noted(scene: HostsScene, kind: str, what: str, *, excuses: bool = False) -> Iterator[Struck]:
    fault = Struck(kind, what, time.time(), scene.share, time.time(), excuses)
    scene.say(f"{kind}: {what}")
    scene.struck.append(fault)
    yield fault
    fault.ended = time.time()


def cut_worker(scene: HostsScene, seconds: float) -> None:
    host = scene.dice.choice(scene.alive())
    _cut(scene, host, "cut-worker", f"{host.name} is cut off for {seconds:.0f} s", seconds)


def cut_redis(scene: HostsScene, seconds: float) -> None:
    _cut_service(scene, "Redis", seconds)


def cut_database(scene: HostsScene, seconds: float) -> None:
    _cut_service(scene, "PostgreSQL", seconds)


def cut_off_first(scene: HostsScene, seconds: float) -> None:
    """The host that starts the first worker is cut off as soon as its autoscaler knows of the need, or a little before
    that."""
    host = scene.workers[0]
    _cut(scene, host, "cut-worker", f"{host.name} is cut off for {seconds:.0f} s before a worker runs", seconds)


def _cut_service(scene: HostsScene, name: str, seconds: float) -> None:
    kind = {"Redis": "cut-redis", "PostgreSQL": "cut-database"}[name]
    _cut(scene, scene.services[name], kind, f"{name} is cut off for {seconds:.0f} s", seconds, excuses=True)


def _cut(scene: HostsScene, host: Host, kind: str, what: str, seconds: float, *, excuses: bool = False) -> None:
    with noted(scene, kind, what, excuses=excuses):
        host.cut()
        scene.rest(seconds)
        host.join()


def lose_redis(scene: HostsScene, seconds: float) -> None:
    """It is down for so long, and comes back empty."""
    with noted(scene, "redis-lost", f"Redis is down for {seconds:.1f} s and comes back empty", excuses=True):
        scene.redis.kill()
        scene.redis.empty()
        scene.rest(seconds)
        scene.redis.start()
    _time_registration(scene)


def _time_registration(scene: HostsScene) -> None:
    """How long it takes until RQ knows all workers again."""

    def there() -> int:
        return scene.samples[-1].on_reachable if scene.setting.autoscaled else len(scene.alive())

    began = time.monotonic()
    scene.wait_for(lambda: scene.redis.worker_count() >= there(), REGISTER_SECONDS)
    took = time.monotonic() - began
    scene.say(f"RQ knows {scene.redis.worker_count()} of {there()} workers after {took:.1f} s")
    scene.measured["registered"] = max(took, scene.measured.get("registered", 0.0))


def restart_database(scene: HostsScene, seconds: float) -> None:
    """Stopped at once, and started again after so long."""
    with noted(scene, "postgres-restart", f"PostgreSQL is down for {seconds:.1f} s", excuses=True):
        scene.postgresql.stop()
        scene.rest(seconds)
        scene.postgresql.start()


def power(scene: HostsScene, seconds: float) -> None:
    """A worker host loses its power and has it again after so long."""
    host = scene.dice.choice(scene.alive())
    with noted(scene, "power", f"{host.name} has no power for {seconds:.0f} s"):
        host.vanish()
        scene.rest(seconds)
        host.power_on()


def kill_autoscaler(scene: HostsScene, seconds: float) -> None:
    """SIGKILL to the autoscaler of a host on which a worker runs; after so long the next fault may come."""
    _kill_one(scene, "kill-autoscaler", lambda words: AUTOSCALER in words, seconds)


def kill_worker(scene: HostsScene, seconds: float) -> None:
    """The same to a worker."""
    _kill_one(scene, "kill-worker", lambda words: WORKER_CLASS in words, seconds)


def _kill_one(scene: HostsScene, kind: str, is_meant: Callable[[list[str]], bool], seconds: float) -> None:
    scene.wait_for(lambda: scene.busy() or scene.over, FIND_SECONDS)
    busy = scene.busy()
    host = scene.dice.choice(busy) if busy else None
    meant = [pid for pid in host.processes() if is_meant(command_of(pid))] if host else []
    if host is None or not meant:
        scene.say(f"{kind}: there is none")
        return
    with noted(scene, kind, f"process {meant[0]} of {host.name} is killed"):
        send(meant[:1], signal.SIGKILL)
        scene.rest(seconds)


def vanish(scene: HostsScene, seconds: float) -> None:
    """A worker host is gone while its worker holds the row of a crawl. It is back after so long; 0 = never."""
    found = _frozen_in_tick(scene, lambda host: True)
    if found is None:
        scene.say("vanish: no tick was met")
        return
    host, _, crawl = found
    with noted(scene, "vanish", f"{host.name} vanishes in a tick of crawl {crawl}") as fault:
        fault.crawl = crawl
        host.vanish()
    if seconds:
        scene.later(seconds, host.power_on)


def stall(scene: HostsScene, seconds: float) -> None:
    """The worker at a tick is held up for so long, and goes on as if nothing had happened: in the middle of a
    transaction, or just before it looks at leases."""
    if scene.dice.random() < 0.5:
        stall_in_transaction(scene, seconds)
    else:
        stall_before_leases(scene, seconds)


def stall_in_transaction(scene: HostsScene, seconds: float) -> None:
    found = _frozen_in_tick(scene, lambda host: not scene.holds_lease(host))
    if found is None:
        scene.say("stall: no tick was met")
        return
    host, frozen, crawl = found
    with noted(scene, "stall", f"the tick of crawl {crawl} on {host.name} is held up for {seconds:.0f} s") as fault:
        fault.crawl = crawl
        scene.rest(seconds)
        send(frozen, signal.SIGCONT)


def stall_before_leases(scene: HostsScene, seconds: float) -> None:
    until = time.monotonic() + FIND_SECONDS
    while time.monotonic() < until and not scene.over:
        found = _stopped_before_leases(scene)
        if found is None:
            continue
        host, stopped = found
        if scene.holds_lease(host):  # of which it would be right to say that its holder does not answer
            send(stopped, signal.SIGCONT)
            continue
        with noted(scene, "stall", f"a tick on {host.name} is held up for {seconds:.0f} s before it looks at leases"):
            scene.rest(seconds)
            send(stopped, signal.SIGCONT)
        return
    scene.say("stall: no tick was met")


def _stopped_before_leases(scene: HostsScene) -> tuple[Host, list[int]] | None:
    """The host whose tick came to the moment, and what stopped there; see injected/sitecustomize.py."""
    file = scene.workers[0].stop_file
    file.touch()
    scene.wait_for(lambda: not file.exists() or scene.over, 5)
    file.unlink(missing_ok=True)
    for host in scene.alive():
        if stopped := host.stopped():
            return host, stopped
    return None


def _frozen_in_tick(scene: HostsScene, fits: Callable[[Host], bool]) -> tuple[Host, list[int], UUID] | None:
    """A host stopped while its worker holds the row lock of a crawl, its processes, and the crawl."""
    hosts = {host.address: host for host in scene.alive()}
    until = time.monotonic() + FIND_SECONDS
    with scene.postgresql.asked() as database:

        def in_transaction() -> set[str]:
            return {row["address"] for row in database.execute(_IN_TRANSACTION)} & hosts.keys()

        def locked() -> set[UUID]:
            unlocked = {row["id"] for row in database.execute(_UNLOCKED)}
            return {row["id"] for row in database.execute(_RUNNING)} - unlocked

        while time.monotonic() < until and not scene.over:
            looked_until = time.monotonic() + 1.0
            known = {address: host.processes() for address, host in hosts.items()}
            while not (met := in_transaction()) and time.monotonic() < looked_until:
                time.sleep(0.001)
            if not met:
                continue
            host = hosts[min(met)]
            send(known[host.address], signal.SIGSTOP)  # at once; then those that began meanwhile
            frozen = host.freeze()
            held = locked()
            time.sleep(CONFIRM_SECONDS)
            held &= locked()
            if host.address in in_transaction() and len(held) == 1 and fits(host):
                return host, frozen, held.pop()
            send(frozen, signal.SIGCONT)
    return None
