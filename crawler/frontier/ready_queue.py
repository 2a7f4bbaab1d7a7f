"""The frontier's window: open pages of a crawl waiting per host for their due time, a bounded part of the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis

from crawler.core.crawl.messages import USUAL_PRIORITY
from crawler.core.crawl.politeness import Pace
from crawler.core.crawl.retries import lanes_of
from crawler.frontier import scripts
from crawler.frontier.keys import CrawlKeys

# How a page is written in a queue: so that pages due at the same time sort by priority, then in order of discovery.

_LEAST = 10  # the most urgent priority, which sorts first


def member_of(page: int, priority: int = USUAL_PRIORITY) -> str:
    """Redis sorts members of equal score as text, so both numbers have one width."""
    return f"{_LEAST - priority:x}{page:014d}"


def page_of(member: str | bytes) -> int:
    return int(member[1:])


COUNT_ANEW = 60  # seconds after which the pages that wait are counted anew, should a queue have been lost
LOOK_AFTER = 5.0  # seconds after which somebody looks whether a batch's job is still known to RQ


@dataclass(frozen=True)
class Waiting:
    """A page on its way into the window."""

    id: int
    host: str  # or a lane of it, see `core.crawl.retries`; the window treats each lane as a host of its own
    due: float  # epoch seconds
    priority: int = USUAL_PRIORITY  # of pages due at the same time, the most urgent is handed out first


@dataclass(frozen=True)
class Level:
    """Pages that flow in one after the other, in the order of their discovery."""

    priority: int
    depth: int = -1  # -1 when the crawl does not go level by level


@dataclass(frozen=True)
class Picked:
    """One slice that was handed out."""

    lane: str
    pages: list[int]


@dataclass(frozen=True)
class Count:
    waiting: int  # pages, those not due yet included
    due: int  # of them


class Window:
    """Pages waiting to be handed out, at the `usual` pace unless their host has one of its own."""

    def __init__(self, redis: Redis, keys: CrawlKeys, usual: Pace) -> None:
        self._redis, self._keys, self._usual = redis, keys, usual

    def put(self, pages: Iterable[Waiting], redis: Redis | None = None) -> None:
        """Add pages; one that waits already gets the new due time, one that is handed out stays where it is. `redis`
        may be a pipeline."""
        if redis is not None:
            self._put(pages, redis)
            return
        with self._redis.pipeline(transaction=False) as pipe:
            self._put(pages, pipe)
            pipe.execute()

    def _put(self, pages: Iterable[Waiting], pipe: Redis) -> None:
        by_lane: dict[str, list[Waiting]] = defaultdict(list)
        for page in pages:
            by_lane[page.host].append(page)
        for lane, waiting in by_lane.items():
            pairs = member_pairs(waiting)
            for begin in range(0, len(pairs), 1000):
                args = [lane, self._usual.slices, self._usual.pages, *pairs[begin : begin + 1000]]
                scripts.run(pipe, "put", self._keys.of_lane(lane), args)

    def pick(
        self, batch: str, token: str, number: int, now: float, *, alone: tuple[str, str] | None = None
    ) -> Picked | None:
        """Hand out one slice, of the host that has waited longest, as slice `number` of a batch; None when no host may
        give one now. A slice of suspects becomes the only one of the batch `alone` (its id and token), or stays."""
        keys, usual = self._keys, self._usual
        answer = cast(
            list[bytes],
            scripts.run(
                self._redis,
                "pick",
                [
                    keys.hosts,
                    keys.known_hosts,
                    keys.active,
                    keys.rest,
                    keys.taken,
                    keys.leases,
                    keys.pace,
                    keys.weights,
                    keys.waiting,
                ],
                [
                    now,
                    usual.slices,
                    usual.pages,
                    LOOK_AFTER,
                    keys.queue(""),
                    keys.lease(""),
                    batch,
                    token,
                    number,
                    *(alone or ("", "")),
                ],
            ),
        )
        if not answer:
            return None
        lane, *members = answer
        return Picked(lane.decode(), [page_of(member) for member in members])

    def set_pace(self, paces: Mapping[str, Pace]) -> None:
        """From now on these hosts give slices at this pace."""
        if paces:
            text: dict[Any, Any] = {host: f"{pace.slices} {pace.pages}" for host, pace in paces.items()}
            self._redis.hset(self._keys.pace, mapping=text)

    def hasten(self, host: str, now: float) -> bool:
        """Hand out the pages of this host now, whatever they were to wait for; whether any had to wait."""
        usual = [self._usual.slices, self._usual.pages]
        with self._redis.pipeline(transaction=False) as pipe:
            for lane in lanes_of(host):
                scripts.run(pipe, "hasten", self._keys.of_lane(lane), [lane, *usual, f"{now:.6f}"])
            return any(pipe.execute())

    def waiting(self) -> int:
        """Pages that wait, those not due yet included; of ten thousand hosts as cheaply as of one."""
        keys, args = self._keys, [self._keys.queue(""), COUNT_ANEW]
        return int(scripts.run(self._redis, "waiting", [keys.waiting, keys.known_hosts], args))

    def count(self, now: float) -> Count:
        waiting, due = scripts.run(self._redis, "count", [self._keys.known_hosts], [self._keys.queue(""), now])
        return Count(waiting, due)

    def taken(self) -> int:
        """Pages handed out and not settled yet."""
        return self._redis.scard(self._keys.taken)

    def cursor(self, level: Level) -> int:
        """The last row of this level that flowed from the table into the window; 0 = none did."""
        raw = cast(bytes | None, self._redis.hget(self._keys.cursor, _field(level)))
        return int(raw or 0)

    def move_cursor(self, level: Level, row: int) -> None:
        self._redis.hset(self._keys.cursor, _field(level), row)

    def next_due(self) -> float | None:
        """Epoch seconds when the first host may be asked; None = no host waits."""
        first = cast(list[tuple[bytes, float]], self._redis.zrange(self._keys.hosts, 0, 0, withscores=True))
        return first[0][1] if first else None

    def lanes(self) -> int:
        """Lanes that have pages waiting."""
        return self._redis.zcard(self._keys.hosts)

    def is_lined_up(self) -> bool:
        """Whether it is known how far the table has flowed into the window."""
        return bool(self._redis.exists(self._keys.cursor))

    def rewind(self) -> None:
        """Let the table flow in from its beginning again: pages behind the cursor were opened anew."""
        self._redis.delete(self._keys.cursor)

    def forget(self) -> None:
        """Drop everything but the results list, so that the window is built again from the table."""
        keys = self._keys
        lanes = cast(set[bytes], self._redis.smembers(keys.known_hosts))
        batches = cast(list[bytes], self._redis.zrange(keys.leases, 0, -1))
        doomed = [keys.cursor, keys.hosts, keys.known_hosts, keys.active, keys.rest, keys.taken, keys.leases, keys.pace]
        doomed += [keys.weights, keys.waiting]
        doomed += [keys.queue(lane.decode()) for lane in lanes]
        doomed += [keys.lease(batch.decode()) for batch in batches]
        self._redis.unlink(*doomed)


def member_pairs(pages: Iterable[Waiting]) -> list[str | float]:
    """Member and due time of each page, one after the other."""
    return [value for page in pages for value in (member_of(page.id, page.priority), page.due)]


def _field(level: Level) -> str:
    return f"{level.depth}:{level.priority}"
