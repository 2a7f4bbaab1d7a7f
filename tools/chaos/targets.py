"""Which process a disturbance strikes: mostly one that has pages in hand."""

from __future__ import annotations

from random import Random

import redis

from tools.chaos.processes import Place, Role, family
from tools.chaos.scene import Scene

FIND_SECONDS = 10.0  # how long a target is waited for


def chosen(scene: Scene, dice: Random, *roles: Role, busy: bool) -> Place | None:
    """A living worker, with pages in hand if that is asked for and one comes along in time."""
    places = scene.crew.workers(*roles)
    first = dice.randrange(len(places))
    order = [*places[first:], *places[:first]]
    found: list[Place] = []

    def look() -> bool:
        at_work = holders(scene) if busy else set()
        found.extend(place for place in order if place.pid and (not busy or at_work & set(family(place))))
        return bool(found)

    scene.wait_for(lambda: look() or scene.over, FIND_SECONDS)
    return found[0] if found else next((place for place in order if place.pid), None)


def holders(scene: Scene) -> set[int]:
    """The processes that hold leases."""
    try:
        leases = scene.frontier.leases.all()
    except redis.RedisError:
        return set()
    return {int(lease.holder.rpartition(":")[2]) for lease, _ in leases if lease.held and lease.holder}
