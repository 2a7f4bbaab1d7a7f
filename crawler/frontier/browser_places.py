"""The browser workers there are, and their places: how many pages they render at a time, over all crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from redis import Redis

from crawler.frontier import keys, scripts

WORKER_TTL_S = 20.0  # a browser worker that has not said for so long that it is there is gone
RESERVATION_S = 5.0  # from taking a place to the batch's lease, at most; else the manager has died in between


@dataclass(frozen=True)
class BrowserWorker:
    name: str  # of its RQ worker
    places: int  # pages it renders at a time


class BrowserSlots:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def register(self, worker: BrowserWorker, now: float) -> None:
        """Note that this worker is there; repeated every few seconds."""
        self._redis.hset(keys.BROWSERS, worker.name, f"{worker.places} {now + WORKER_TTL_S:.3f}")
        self._redis.expire(keys.BROWSERS, 24 * 3600)

    def remove(self, name: str) -> None:
        """The worker takes no further page."""
        self._redis.hdel(keys.BROWSERS, name)

    def workers(self, now: float) -> list[BrowserWorker]:
        """Those that are there."""
        found = cast(dict[bytes, bytes], self._redis.hgetall(keys.BROWSERS))
        entries = [(name.decode(), *value.decode().split()) for name, value in sorted(found.items())]
        gone = [name for name, _, until in entries if float(until) <= now]
        if gone:
            self._redis.hdel(keys.BROWSERS, *gone)
        return [BrowserWorker(name, int(places)) for name, places, until in entries if float(until) > now]

    def take(self, leases: Sequence[str], places: int, now: float) -> int:
        """Take a place for each of these batches, named by the keys of their leases, while fewer than `places` are
        taken; returns how many have one, from the first on. It is free again when the batch is complete."""
        if not leases or places <= 0:
            return 0
        return int(
            scripts.run(self._redis, "take_places", [keys.BROWSER_PLACES], [places, now, RESERVATION_S, *leases])
        )

    def confirm(self, leases: Sequence[str]) -> None:
        """These batches have their leases."""
        if leases:
            self._redis.zadd(keys.BROWSER_PLACES, dict.fromkeys(leases, 0), xx=True)

    def give_back(self, leases: Sequence[str]) -> None:
        """These batches were not handed out."""
        if leases:
            self._redis.zrem(keys.BROWSER_PLACES, *leases)

    def taken_by_holder(self) -> Counter[str]:
        """How many places the batches of each holder take, see `Lease.holder`. One in RQ's queue has none."""
        with self._redis.pipeline(transaction=False) as pipe:
            for lease in cast(list[bytes], self._redis.zrange(keys.BROWSER_PLACES, 0, -1)):
                pipe.hget(lease.decode(), "holder")
            return Counter(holder.decode() for holder in cast(list[bytes | None], pipe.execute()) if holder)

    def taken(self) -> int:
        """Places that are taken; those of batches that have just ended may be among them."""
        leases = cast(list[bytes], self._redis.zrange(keys.BROWSER_PLACES, 0, -1))
        return int(self._redis.exists(*leases)) if leases else 0
