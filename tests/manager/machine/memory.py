"""Redis losing, forgetting and regaining what it knew."""

from collections.abc import Iterable
from dataclasses import dataclass

from redis import Redis

from tests.manager.machine.clock import Clock

EVICTED = ("hosts", "cursor", "taken", "leases", "active", "mark", "known_hosts", "rest", "results", "pace")
OF_THE_QUEUE_SIDE = ("hosts", "leases", "mark", "results")


@dataclass(frozen=True)
class Snapshot:
    """All keys at one moment: the file Redis wrote to its disk then."""

    at: float
    keys: dict[bytes, tuple[bytes, int]]  # value as Redis dumps it, milliseconds left or 0


def taken(redis: Redis, clock: Clock) -> Snapshot:
    found = {}
    for key in redis.keys("*"):
        dumped = redis.dump(key)
        if dumped is not None:
            found[key] = (dumped, max(0, redis.pttl(key)))
    return Snapshot(clock.now, found)


def bring_back(redis: Redis, clock: Clock, snapshot: Snapshot) -> None:
    """Redis was restarted and read what it had written then."""
    redis.flushall()
    for key, (value, left) in snapshot.keys.items():
        redis.restore(key, left, value)
    clock.forget(clock.now - snapshot.at)


def evict(redis: Redis, crawl: str, names: Iterable[str]) -> None:
    """Redis ran out of memory and dropped these keys of a crawl. Of leases, queues and parts of
    what is seen, any one."""
    doomed = [f"crawler:{crawl}:{name}" for name in names if name in EVICTED]
    for kind in ("lease", "queue", "seen"):
        if kind in names:
            doomed += [key.decode() for key in sorted(redis.keys(f"crawler:{crawl}:{kind}:*"))[:1]]
    if doomed:
        redis.delete(*doomed)


def left_of(redis: Redis, crawl: str) -> set[str]:
    """What Redis holds of a crawl, but for what goes by itself and is meant to."""
    prefix = f"crawler:{crawl}:"
    found = {key.decode().removeprefix(prefix) for key in redis.keys(f"{prefix}*")}
    lasting = {name for name in found if redis.ttl(f"{prefix}{name}") < 0}
    return lasting | (found - {"dead", "deleted"})
