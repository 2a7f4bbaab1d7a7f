"""What can be done to workers that run Scrapy, for the table in `disturbances`. Each kills a single process: what else
there is of that worker has to end, or to go on, by itself."""

from __future__ import annotations

import signal
from random import Random

from tools.chaos.browser_processes import descendants, is_scrapy
from tools.chaos.processes import Role, send
from tools.chaos.scene import Scene
from tools.chaos.targets import chosen


def kill_scrapy(scene: Scene, dice: Random) -> str | None:
    """The worker lives, and the pages under way are tried again in another process."""
    place = chosen(scene, dice, Role.SCRAPY, busy=True)
    found = [pid for pid in descendants(place.pid) if is_scrapy(pid)] if place is not None and place.pid else []
    if place is None or not found:
        return None
    send(found, signal.SIGKILL)
    return f"kill -9 Scrapy of {place.name}"


def kill_scrapy_worker(scene: Scene, dice: Random) -> str | None:
    """Scrapy is left, and ends with the pipe from its worker."""
    place = chosen(scene, dice, Role.SCRAPY, busy=dice.random() < 0.8)
    if place is None or place.pid is None:
        return None
    send([place.pid], signal.SIGKILL)
    return f"kill -9 {place.name}, leaving its Scrapy to end by itself"
