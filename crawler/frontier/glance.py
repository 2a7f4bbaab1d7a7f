"""What can be seen of a crawl in Redis at one moment: for people who wonder why it is not finished. It changes nothing,
and reads no more than a few hosts and the batches that are out, however large the crawl is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from crawler.core import suspects
from crawler.core.completion import QueueSide
from crawler.frontier.frontier import Frontier
from crawler.frontier.hosts import HostSeen, seen_of
from crawler.frontier.leases import Lease
from crawler.frontier.members import page_of
from crawler.frontier.results import Mark, Tick


@dataclass(frozen=True)
class LaneSeen:
    """A host with pages that wait, or a lane of it (`core.suspects`). Moments are epoch seconds."""

    lane: str
    next_at: float  # when its next slice may be handed out
    pages: int
    first_page: int | None  # id of the page that is due first
    first_due: float
    rest_until: float  # until then this crawl hands out no page of it
    shared: HostSeen

    @property
    def host(self) -> str:
        return suspects.host_of(self.lane)


@dataclass(frozen=True)
class Glance:
    now: float  # epoch seconds, by the clock all workers agree on
    queue_side: QueueSide
    leases: Sequence[tuple[Lease, float]]  # with the moment when somebody will look at each
    hosts: Sequence[LaneSeen]  # some of those that wait, the next one first
    held_hosts: Mapping[str, HostSeen]  # hosts of batches that are claimed, as many at most
    handed_out: int  # pages
    is_lined_up: bool  # how far the table has flowed into the window is known
    lock_left: float | None  # seconds the tick at work still keeps others out; None = no tick is at work
    mark: Mark | None
    last_tick: Tick | None
    closing_at: float | None  # epoch seconds when pages close that their servers put off; None = others are left


def glance(frontier: Frontier, hosts_at_most: int) -> Glance:
    now = frontier.now()
    lock_ms = frontier.redis.pttl(frontier.keys.lock)
    leases = frontier.leases.all()
    held = [suspects.host_of(lane) for lease, _ in leases if lease.held for lane, _ in lease.slices.values()]
    return Glance(
        now=now,
        queue_side=frontier.queue_side(),
        leases=leases,
        hosts=_lanes(frontier, now, hosts_at_most),
        held_hosts=seen_of(frontier.redis, list(dict.fromkeys(held))[:hosts_at_most], now),
        handed_out=frontier.window.taken(),
        is_lined_up=frontier.window.is_lined_up(),
        lock_left=lock_ms / 1000 if lock_ms > 0 else None,
        mark=frontier.results.mark(),
        last_tick=frontier.results.last_tick(),
        closing_at=frontier.closing(),
    )


def _lanes(frontier: Frontier, now: float, at_most: int) -> list[LaneSeen]:
    first = cast(
        list[tuple[bytes, float]],
        frontier.redis.zrange(frontier.keys.hosts, 0, at_most - 1, withscores=True),
    )
    lanes = [(raw.decode(), next_at) for raw, next_at in first]
    shared = seen_of(frontier.redis, [suspects.host_of(lane) for lane, _ in lanes], now)
    with frontier.redis.pipeline(transaction=False) as pipe:
        for lane, _ in lanes:
            pipe.zcard(frontier.keys.queue(lane))
            pipe.zrange(frontier.keys.queue(lane), 0, 0, withscores=True)
            pipe.hget(frontier.keys.rest, lane)
        answers = pipe.execute()
    return [
        _lane(lane, next_at, answers[3 * place : 3 * place + 3], shared[suspects.host_of(lane)])
        for place, (lane, next_at) in enumerate(lanes)
    ]


def _lane(lane: str, next_at: float, answers: Sequence[Any], shared: HostSeen) -> LaneSeen:
    pages, first, rest = answers
    return LaneSeen(
        lane=lane,
        next_at=next_at,
        pages=pages,
        first_page=page_of(first[0][0]) if first else None,
        first_due=float(first[0][1]) if first else 0.0,
        rest_until=float(rest or 0),
        shared=shared,
    )
