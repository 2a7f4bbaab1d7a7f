"""The slots of the workers of a slot lane: how many of its pages they take at a time, over all crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

from redis import Redis

from crawler.core.protocol.lanes import SlotLane
from crawler.frontier import keys, scripts

WORKER_TTL_S = 20.0  # a worker that has not said for so long that it is there is gone
RESERVATION_S = 5.0  # from taking a slot to the batch's lease, at most; else the manager has died in between


class LaneSlots:
    def __init__(self, redis: Redis, lane: SlotLane) -> None:
        self._redis = redis
        self._workers, self._taken = keys.lane_workers(lane), keys.taken_slots(lane)

    def register(self, worker: str, slots: int, now: float) -> None:
        """Note that the RQ worker of this name is there, and how many pages it takes at a time; repeated every few
        seconds."""
        self._redis.hset(self._workers, worker, f"{slots} {now + WORKER_TTL_S:.3f}")
        self._redis.expire(self._workers, 24 * 3600)

    def remove(self, name: str) -> None:
        """The worker takes no further page."""
        self._redis.hdel(self._workers, name)

    def workers(self, now: float) -> dict[str, int]:
        """The slots of those that are there, by name."""
        found = cast(dict[bytes, bytes], self._redis.hgetall(self._workers))
        entries = [(name.decode(), *value.decode().split()) for name, value in sorted(found.items())]
        gone = [name for name, _, until in entries if float(until) <= now]
        if gone:
            self._redis.hdel(self._workers, *gone)
        return {name: int(slots) for name, slots, until in entries if float(until) > now}

    def take(self, leases: Sequence[str], slots: int, now: float) -> int:
        """Take a slot for each of these batches, named by the keys of their leases, while fewer than `slots` are
        taken; returns how many have one, from the first on. It is free again when the batch is complete."""
        if not leases or slots <= 0:
            return 0
        return int(scripts.run(self._redis, "take_slots", [self._taken], [slots, now, RESERVATION_S, *leases]))

    def confirm(self, leases: Sequence[str]) -> None:
        """These batches have their leases."""
        if leases:
            self._redis.zadd(self._taken, dict.fromkeys(leases, 0), xx=True)

    def give_back(self, leases: Sequence[str]) -> None:
        """These batches were not handed out."""
        if leases:
            self._redis.zrem(self._taken, *leases)

    def taken_by_holder(self) -> Counter[str]:
        """How many slots the batches of each holder take, see `Lease.holder`. One in RQ's queue has none."""
        with self._redis.pipeline(transaction=False) as pipe:
            for lease in cast(list[bytes], self._redis.zrange(self._taken, 0, -1)):
                pipe.hget(lease.decode(), "holder")
            return Counter(holder.decode() for holder in cast(list[bytes | None], pipe.execute()) if holder)

    def taken(self) -> int:
        """Slots in use; slots of batches that have just ended may be among them."""
        leases = cast(list[bytes], self._redis.zrange(self._taken, 0, -1))
        return int(self._redis.exists(*leases)) if leases else 0
