"""The frontier's window: open pages of a crawl waiting per host for their due time, a bounded part of the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from redis import Redis

from crawler.frontier import script
from crawler.frontier.keys import CrawlKeys

LOOK_AFTER = 5.0  # seconds after which somebody looks whether a batch's job is still known to RQ


@dataclass(frozen=True)
class Waiting:
    """A page on its way into the window."""

    id: int
    host: str  # or a lane of it, see `core.suspects`; the window treats each lane as a host of its own
    due: float  # epoch seconds


@dataclass(frozen=True)
class Cursor:
    """How far the table has flowed into the window. `depth` is -1 when the crawl does not go level by level."""

    depth: int
    id: int


class Window:
    """Pages waiting to be handed out. `slices_at_once(host)` says how many slices of a host may be out at a time."""

    def __init__(self, redis: Redis, keys: CrawlKeys, slices_at_once: Callable[[str], int]) -> None:
        self._redis, self._keys, self._at_once = redis, keys, slices_at_once

    def put(self, pages: Iterable[Waiting], redis: Redis | None = None) -> None:
        """Add pages; one that waits already, or is handed out, stays where it is. `redis` may be a pipeline."""
        by_host: dict[str, list[Waiting]] = defaultdict(list)
        for page in pages:
            by_host[page.host].append(page)
        for host, waiting in by_host.items():
            pairs = [value for page in waiting for value in (_member(page.id), page.due)]
            for begin in range(0, len(pairs), 1000):
                args = [host, self._at_once(host), *pairs[begin : begin + 1000]]
                script.run(redis or self._redis, "put", self._host_keys(host), args)

    def take(self, host: str, pages: int, batch: str, token: str, number: int, now: float) -> list[int]:
        """Move up to `pages` due pages of a host into slice `number` of a batch's lease; their ids, first due first."""
        keys = self._keys
        ids = script.run(
            self._redis,
            "take",
            [keys.hosts, keys.queue(host), keys.active, keys.rest, keys.taken, keys.leases, keys.lease(batch)],
            [host, self._at_once(host), now, pages, batch, token, number, LOOK_AFTER],
        )
        return [int(member) for member in ids]

    def due_hosts(self, now: float, at_most: int) -> list[str]:
        """Hosts that may give a slice now, the one that has waited longest first."""
        hosts = cast(list[bytes], self._redis.zrangebyscore(self._keys.hosts, "-inf", now, start=0, num=at_most))
        return [host.decode() for host in hosts]

    def size(self) -> int:
        """Pages waiting, those not due yet included."""
        hosts = cast(set[bytes], self._redis.smembers(self._keys.known_hosts))
        with self._redis.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.zcard(self._keys.queue(host.decode()))
            return sum(cast(list[int], pipe.execute()))

    def taken(self) -> int:
        """Pages handed out and not settled yet."""
        return self._redis.scard(self._keys.taken)

    def cursor(self) -> Cursor | None:
        raw = cast(bytes | None, self._redis.get(self._keys.cursor))
        if raw is None:
            return None
        depth, page = raw.decode().split(":")
        return Cursor(int(depth), int(page))

    def move_cursor(self, cursor: Cursor) -> None:
        self._redis.set(self._keys.cursor, f"{cursor.depth}:{cursor.id}")

    def rewind(self) -> None:
        """Let the table flow in from its beginning again: pages behind the cursor were opened anew."""
        self._redis.delete(self._keys.cursor)

    def forget(self) -> None:
        """Drop everything but the results list, so that the window is built again from the table."""
        keys = self._keys
        hosts = cast(set[bytes], self._redis.smembers(keys.known_hosts))
        batches = cast(list[bytes], self._redis.zrange(keys.leases, 0, -1))
        doomed = [keys.cursor, keys.hosts, keys.known_hosts, keys.active, keys.rest, keys.taken, keys.leases]
        doomed += [keys.queue(host.decode()) for host in hosts]
        doomed += [keys.lease(batch.decode()) for batch in batches]
        self._redis.unlink(*doomed)

    def _host_keys(self, host: str) -> list[str]:
        keys = self._keys
        return [keys.hosts, keys.known_hosts, keys.queue(host), keys.active, keys.rest, keys.taken]


def _member(page_id: int) -> str:
    """Page ids as text of one width: pages due at the same time go in the order of their ids."""
    return f"{page_id:015d}"
