"""What can be done to browser workers with their Chromium and to workers that run Scrapy, for the table in
`disturbances`.

Most kill a single process, as the kernel does that needs memory: what else there is of that worker has to end, or to go
on, by itself.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from random import Random

from tools.chaos.one_machine.crew import Member, Role
from tools.chaos.one_machine.scene import MachineScene, NothingThere
from tools.chaos.processes import descendants, is_chromium, is_playwright, is_renderer, is_scrapy, send


def kill_chromium(scene: MachineScene, dice: Random) -> str:
    """The worker lives, and its pages are tried again in another Chromium."""
    return _kill_one(scene, dice, "Chromium", is_chromium)


def kill_renderer(scene: MachineScene, dice: Random) -> str:
    """Chromium lives; the page of this process is tried again."""
    return _kill_one(scene, dice, "a renderer", is_renderer)


def kill_playwright(scene: MachineScene, dice: Random) -> str:
    """The Node.js between the worker and its Chromium."""
    return _kill_one(scene, dice, "Playwright", is_playwright)


def kill_browser_worker(scene: MachineScene, dice: Random) -> str:
    member, pid = _busy(scene, dice)
    left = len(descendants(pid))
    send([pid], signal.SIGKILL)
    return f"kill -9 {member.name}, leaving {left} processes to end by themselves"


def stop_browser_worker(scene: MachineScene, dice: Random) -> str:
    """SIGSTOP for longer than a lease lives, with its Chromium; then it goes on as if nothing had happened."""
    member, pid = _busy(scene, dice)
    seconds, stopped = dice.uniform(12, 14), [pid, *descendants(pid)]
    send(stopped, signal.SIGSTOP)
    scene.later(seconds, lambda: send(stopped, signal.SIGCONT))
    return f"SIGSTOP {member.name} and {len(stopped) - 1} processes for {seconds:.1f} s"


def terminate_browser_worker(scene: MachineScene, dice: Random) -> str:
    """It hands back what it has."""
    member, pid = _busy(scene, dice)
    send([pid], signal.SIGTERM)
    return f"SIGTERM {member.name}"


def kill_everything_with_browsers(scene: MachineScene, dice: Random) -> str:
    """All workers and Redis, which comes back with or without its data; then the supervisor starts all again."""
    forgotten = dice.random() < 0.5
    scene.crew.held = True
    scene.crew.kill_everybody()
    scene.redis.kill()
    if forgotten:
        scene.redis.empty()
    scene.redis.start()
    scene.crew.held = False
    return f"kill -9 everything (Redis too, restarted with{'out' if forgotten else ''} its data)"


def _busy(scene: MachineScene, dice: Random) -> tuple[Member, int]:
    """Mostly one that has pages."""
    return scene.chosen(dice, Role.BROWSER, busy=dice.random() < 0.9)


def _kill_one(scene: MachineScene, dice: Random, what: str, is_it: Callable[[int], bool]) -> str:
    """The process is waited for: one of a page lives no longer than that."""
    member, _ = _busy(scene, dice)
    found = scene.awaited(lambda: [pid for pid in descendants(member.pid or -1) if is_it(pid)])
    send([dice.choice(found)], signal.SIGKILL)
    return f"kill -9 {what} of {member.name}"


def kill_scrapy(scene: MachineScene, dice: Random) -> str:
    """The worker lives, and the pages under way are tried again in another process."""
    member, worker = scene.chosen(dice, Role.SCRAPY, busy=True)
    found = [pid for pid in descendants(worker) if is_scrapy(pid)]
    if not found:
        raise NothingThere
    send(found, signal.SIGKILL)
    return f"kill -9 Scrapy of {member.name}"


def kill_scrapy_worker(scene: MachineScene, dice: Random) -> str:
    """Scrapy is left, and ends with the pipe from its worker."""
    member, pid = scene.chosen(dice, Role.SCRAPY, busy=dice.random() < 0.8)
    send([pid], signal.SIGKILL)
    return f"kill -9 {member.name}, leaving its Scrapy to end by itself"
