"""What can be done to browser workers and their Chromium, for the table in `disturbances`.

Most kill a single process, as the kernel does that needs memory: what else there is of that worker has to end, or to go
on, by itself.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from random import Random

from tools.chaos.browser_processes import descendants, is_chromium, is_playwright, is_renderer
from tools.chaos.processes import Place, Role, send
from tools.chaos.scene import Scene
from tools.chaos.targets import FIND_SECONDS, chosen


def kill_chromium(scene: Scene, dice: Random) -> str | None:
    """The worker lives, and its pages are tried again in another Chromium."""
    return _kill_one(scene, dice, "Chromium", is_chromium)


def kill_renderer(scene: Scene, dice: Random) -> str | None:
    """Chromium lives; the page of this process is tried again."""
    return _kill_one(scene, dice, "a renderer", is_renderer)


def kill_playwright(scene: Scene, dice: Random) -> str | None:
    """The Node.js between the worker and its Chromium."""
    return _kill_one(scene, dice, "Playwright", is_playwright)


def kill_browser_worker(scene: Scene, dice: Random) -> str | None:
    place = _busy(scene, dice)
    if place is None or place.pid is None:
        return None
    left = len(descendants(place.pid))
    send([place.pid], signal.SIGKILL)
    return f"kill -9 {place.name}, leaving {left} processes to end by themselves"


def stop_browser_worker(scene: Scene, dice: Random) -> str | None:
    """SIGSTOP for longer than a lease lives, with its Chromium; then it goes on as if nothing had happened."""
    place = _busy(scene, dice)
    if place is None or place.pid is None:
        return None
    seconds, stopped = dice.uniform(12, 14), [place.pid, *descendants(place.pid)]
    send(stopped, signal.SIGSTOP)
    scene.later(seconds, lambda: send(stopped, signal.SIGCONT))
    return f"SIGSTOP {place.name} and {len(stopped) - 1} processes for {seconds:.1f} s"


def terminate_browser_worker(scene: Scene, dice: Random) -> str | None:
    """It hands back what it has."""
    place = _busy(scene, dice)
    if place is None or place.pid is None:
        return None
    send([place.pid], signal.SIGTERM)
    return f"SIGTERM {place.name}"


def kill_everything_with_browsers(scene: Scene, dice: Random) -> str:
    """All workers and Redis, which comes back with or without its data; then the supervisor starts all again."""
    forgotten = dice.random() < 0.5
    scene.crew.held = True
    scene.crew.kill_everybody()
    scene.memory.kill()
    if forgotten:
        scene.memory.empty()
    scene.memory.start()
    scene.crew.held = False
    return f"kill -9 everything (Redis too, restarted with{'out' if forgotten else ''} its data)"


def _busy(scene: Scene, dice: Random) -> Place | None:
    """Mostly one that has pages."""
    return chosen(scene, dice, Role.BROWSER, busy=dice.random() < 0.9)


def _kill_one(scene: Scene, dice: Random, what: str, is_it: Callable[[int], bool]) -> str | None:
    """The process is waited for: one of a page lives no longer than that."""
    place, found = _busy(scene, dice), list[int]()

    def look() -> bool:
        if place is not None and place.pid:
            found.extend(pid for pid in descendants(place.pid) if is_it(pid))
        return bool(found)

    scene.wait_for(lambda: look() or scene.over, FIND_SECONDS)
    if place is None or not found:
        return None
    send([dice.choice(found)], signal.SIGKILL)
    return f"kill -9 {what} of {place.name}"
