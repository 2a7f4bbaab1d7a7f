"""The ready queue: open pages of a crawl waiting per host for their due time, a bounded part of the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec
from redis import Redis

from crawler.core.politeness.host_rules import MAX_SLICE_PAGES, SHORT_SLICE_PAGES, Pace
from crawler.core.politeness.priorities import USUAL_PRIORITY
from crawler.core.protocol.lanes import suffixes
from crawler.core.protocol.retries import batch_size, lanes_of
from crawler.frontier import scripts
from crawler.frontier.keys import CrawlKeys

# Queue members are encoded so that pages due at the same time sort by priority, then in order of discovery.

_MOST_URGENT = 10  # the most urgent priority, which sorts first


def encode_member(page: int, priority: int = USUAL_PRIORITY) -> str:
    """Redis sorts members of equal score as text, so both numbers have one width."""
    return f"{_MOST_URGENT - priority:x}{page:014d}"


def decode_member(member: str | bytes) -> int:
    return int(member[1:])


RECOUNT_INTERVAL_S = 60  # after which the waiting pages are recounted, in case Redis lost a queue
WORKER_CONNECTIONS = 256  # of a worker, unless set otherwise
JOB_CHECK_INTERVAL_S = 5.0  # after which the manager checks whether RQ still knows a batch's job


class QueueItem(msgspec.Struct, frozen=True):
    """A page to be enqueued."""

    id: int
    host: str  # or a lane of it, see `core.protocol.retries`; the queue treats each lane as a host of its own
    due: float  # epoch seconds
    priority: int = USUAL_PRIORITY  # of pages due at the same time, the most urgent is handed out first


class Level(msgspec.Struct, frozen=True):
    """Pages that are enqueued in the order of their discovery."""

    priority: int
    depth: int = -1  # -1 when the crawl does not go level by level


class SliceOrder(msgspec.Struct, frozen=True):
    """Asks for slice `number` of a batch. A slice of suspects becomes the only one of the batch `alone` (its id and
    token); without `alone` suspects are skipped."""

    batch: str
    token: str
    number: int
    alone: tuple[str, str] | None = None
    suffix: str = ""  # of the slot lane whose pages are asked for, see `core.protocol.lanes`


class DequeuedSlice(msgspec.Struct, frozen=True):
    """One slice that was handed out."""

    batch: str  # its id
    lane: str
    pages: list[int]


class QueueCounts(msgspec.Struct, frozen=True):
    waiting: int  # pages, those not due yet included
    due: int  # of them


class ReadyQueue:
    """Pages waiting to be handed out, at the default pace unless their host has one of its own."""

    def __init__(self, redis: Redis, keys: CrawlKeys, default_pace: Pace) -> None:
        self._redis, self._keys, self._default_pace = redis, keys, default_pace

    def enqueue(self, pages: Iterable[QueueItem], redis: Redis | None = None) -> None:
        """Add pages; one that waits already gets the new due time, one that is handed out is skipped. `redis` may be a
        pipeline."""
        if redis is not None:
            self._enqueue(pages, redis)
            return
        with self._redis.pipeline(transaction=False) as pipe:
            self._enqueue(pages, pipe)
            pipe.execute()

    def _enqueue(self, pages: Iterable[QueueItem], pipe: Redis) -> None:
        by_lane: dict[str, list[QueueItem]] = defaultdict(list)
        for page in pages:
            by_lane[page.host].append(page)
        for lane, waiting in by_lane.items():
            pairs = member_pairs(waiting)
            for begin in range(0, len(pairs), 1000):
                args = [lane, self._default_pace.slices, self._default_pace.pages, *pairs[begin : begin + 1000]]
                scripts.run(pipe, "enqueue", self._keys.of_lane(lane), args)

    def dequeue(
        self,
        orders: Sequence[SliceOrder],
        now: float,
        connections: int = WORKER_CONNECTIONS,
        most_pages: int = MAX_SLICE_PAGES,
    ) -> list[DequeuedSlice]:
        """Hand out one slice for each order, in one round trip; fewer when no host may give one now. `connections`: of
        all workers together; for pages of a slot lane, its slots. `most_pages`: of a slice, at any pace."""
        with self._redis.pipeline(transaction=False) as pipe:
            for order in orders:
                self._dequeue(order, now, connections, most_pages, pipe)
            answers = cast(list[list[bytes]], pipe.execute())
        return [_dequeued(order, answer) for order, answer in zip(orders, answers, strict=True) if answer]

    def _dequeue(self, order: SliceOrder, now: float, connections: int, most_pages: int, pipe: Redis) -> None:
        keys, usual = self._keys, self._default_pace
        lanes = keys.of_suffix(order.suffix)
        scripts.run(
            pipe,
            "dequeue",
            [
                lanes.hosts,
                lanes.known_hosts,
                keys.active,
                keys.rest,
                keys.taken,
                keys.leases,
                keys.pace,
                lanes.weights,
                lanes.waiting,
            ],
            [
                now,
                usual.slices,
                usual.pages,
                JOB_CHECK_INTERVAL_S,
                keys.queue(""),
                keys.lease(""),
                order.batch,
                order.token,
                order.number,
                *(order.alone or ("", "")),
                connections,
                most_pages,
            ],
        )

    def set_paces(self, paces: Mapping[str, Pace]) -> None:
        """Set the pace of these hosts."""
        if paces:
            text: dict[Any, Any] = {host: f"{pace.slices} {pace.pages} {pace.short}" for host, pace in paces.items()}
            self._redis.hset(self._keys.pace, mapping=text)

    def make_due(self, host: str, now: float) -> bool:
        """Make the pages of this host due now; True if any had to wait."""
        usual = [self._default_pace.slices, self._default_pace.pages]
        with self._redis.pipeline(transaction=False) as pipe:
            for lane in lanes_of(host):
                scripts.run(pipe, "make_due", self._keys.of_lane(lane), [lane, *usual, f"{now:.6f}"])
            return any(pipe.execute())

    def size(self) -> int:
        """Pages that wait, including those not due yet; O(1) unless it recounts."""
        return sum(self.sizes().values())

    def sizes(self) -> dict[str, int]:
        """The same of the base lane ("") and of each slot lane, by suffix; one round trip."""
        with self._redis.pipeline(transaction=False) as pipe:
            for lanes in self._keys.of_suffixes():
                args = [self._keys.queue(""), RECOUNT_INTERVAL_S]
                scripts.run(pipe, "queue_size", [lanes.waiting, lanes.known_hosts], args)
            return dict(zip(suffixes(), map(int, pipe.execute()), strict=True))

    def counts(self, now: float, suffix: str = "") -> QueueCounts:
        """Of the base lane, or of the slot lane with this suffix."""
        lanes = self._keys.of_suffix(suffix)
        waiting, due = scripts.run(self._redis, "queue_counts", [lanes.known_hosts], [self._keys.queue(""), now])
        return QueueCounts(waiting, due)

    def handed_out(self) -> int:
        """Pages handed out and not complete."""
        return self._redis.scard(self._keys.taken)

    def slices_out(self) -> int:
        """Slices handed out and not complete; O(lanes that have one)."""
        return sum(map(int, cast(list[bytes], self._redis.hvals(self._keys.active))))

    def lanes_out(self, at_most: int) -> list[str]:
        """Lanes with slices that are handed out and not complete, some of them if there are more."""
        out = cast(dict[bytes, bytes], self._redis.hgetall(self._keys.active))
        return [lane.decode() for lane, slices in out.items() if int(slices) > 0][:at_most]

    def cursor(self, level: Level) -> int:
        """The last row of this level that was enqueued from the table; 0 = none."""
        raw = cast(bytes | None, self._redis.hget(self._keys.cursor, _field(level)))
        return int(raw or 0)

    def move_cursor(self, level: Level, row: int) -> None:
        self._redis.hset(self._keys.cursor, _field(level), row)

    def next_due(self, suffix: str = "") -> float | None:
        """Epoch seconds when the first host is due, in the base lane or the slot lane with this suffix; None = none
        waits."""
        hosts = self._keys.of_suffix(suffix).hosts
        first = cast(list[tuple[bytes, float]], self._redis.zrange(hosts, 0, 0, withscores=True))
        return first[0][1] if first else None

    def lane_count(self) -> int:
        """Lanes that have pages waiting, without those of slot lanes."""
        return self._redis.zcard(self._keys.of_suffix().hosts)

    def due_lanes(self, now: float) -> int:
        """Of these lanes, those that may give a slice now."""
        return self._redis.zcount(self._keys.of_suffix().hosts, "-inf", now)

    def is_of_slow_host(self) -> bool:
        """Whether the host with most pages in the base lane is known to be slow: it gets shorter slices than others."""
        lanes = cast(list[bytes], self._redis.zrevrange(self._keys.of_suffix().weights, 0, 0))
        pace = cast(bytes | None, self._redis.hget(self._keys.pace, lanes[0].partition(b"|")[0])) if lanes else None
        return pace is not None and int(pace.split()[2]) < SHORT_SLICE_PAGES

    def has_cursor(self) -> bool:
        """Whether it is known how much of the table was enqueued."""
        return bool(self._redis.exists(self._keys.cursor))

    def rewind(self) -> None:
        """Enqueue from the start of the table again: pages behind the cursor were reopened."""
        self._redis.delete(self._keys.cursor)

    def clear(self) -> None:
        """Delete the queues and leases, but not the results list, so that they are rebuilt from the table."""
        keys = self._keys
        kinds = keys.of_suffixes()
        lanes = cast(set[bytes], self._redis.sunion([kind.known_hosts for kind in kinds]))
        batches = cast(list[bytes], self._redis.zrange(keys.leases, 0, -1))
        unused = [keys.cursor, keys.active, keys.rest, keys.taken, keys.leases, keys.pace]
        unused += [key for kind in kinds for key in (kind.hosts, kind.known_hosts, kind.weights, kind.waiting)]
        unused += [keys.queue(lane.decode()) for lane in lanes]
        unused += [keys.lease(batch.decode()) for batch in batches]
        self._redis.unlink(*unused)


def _dequeued(order: SliceOrder, answer: Sequence[bytes]) -> DequeuedSlice:
    lane, *members = (value.decode() for value in answer)
    batch = order.alone[0] if order.alone is not None and batch_size(lane) is not None else order.batch
    return DequeuedSlice(batch, lane, [decode_member(member) for member in members])


def member_pairs(pages: Iterable[QueueItem]) -> list[str | float]:
    """Member and due time of each page, one after the other."""
    return [value for page in pages for value in (encode_member(page.id, page.priority), page.due)]


def _field(level: Level) -> str:
    return f"{level.depth}:{level.priority}"
