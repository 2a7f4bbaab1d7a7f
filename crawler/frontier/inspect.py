"""A read-only snapshot of a crawl in Redis, for users who ask why it is not finished. It reads only a few hosts and the
batches that are handed out, however large the crawl is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from redis import Redis

from crawler.core.protocol import retries
from crawler.core.protocol.completion import QueueSide
from crawler.core.protocol.retries import lanes_of
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_state import STOP_FIELDS, HostState, HostStates
from crawler.frontier.host_throttle import THROTTLE_FIELDS
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.leases import Lease
from crawler.frontier.ready_queue import decode_member
from crawler.frontier.results import Mark, TickEnd

# What delays a host over all crawls: its state, the crawls that use its slots, and the end of its waits.

_WAIT_FIELDS = [*STOP_FIELDS, "probe", "probe_until", *THROTTLE_FIELDS]
"""Fields of a host that make it wait. Its Crawl-delay is not among them: the site asked for that."""


class PolicyInUse(msgspec.Struct, frozen=True):
    """The host policy of a crawl at work."""

    delay: float  # seconds between two requests, at least
    connections: int  # at a time, at most


class HostSnapshot(msgspec.Struct, frozen=True):
    """What all crawls know about a host."""

    state: HostState
    asked_at: float | None  # epoch seconds of the last request; None = not known
    policies: Mapping[str, PolicyInUse]  # crawl -> its policy, of the running crawls
    slots: Mapping[str, int]  # crawl -> connections in use ("" = not known whose)

    @property
    def connections(self) -> int:
        return sum(self.slots.values())

    @property
    def is_known(self) -> bool:
        return bool(self.asked_at is not None or self.policies or self.slots or self.state != HostState())


def holder_name(crawl: str, batch: str, number: int | str) -> str:
    """The name of a slice as holder of a host's slot."""
    return f"{crawl}:{batch}:{number}"


def crawl_of(holder: str) -> str:
    """The crawl of a holder; "" if an earlier version named it."""
    crawl, *rest = holder.split(":")
    return crawl if len(rest) == 2 else ""


def host_snapshots(redis: Redis, hosts: Sequence[str], now: float) -> dict[str, HostSnapshot]:
    known = HostStates(redis).read(hosts, now)
    with redis.pipeline(transaction=False) as pipe:
        for host in hosts:
            pipe.hmget(keys.host(host), ["sent"])
            pipe.hgetall(keys.host_policies(host))
            pipe.zrangebyscore(keys.host_slots(host), f"({now}", "+inf")
        answers = pipe.execute()
    return {
        host: _host_snapshot(known[host], now, *answers[3 * place : 3 * place + 3]) for place, host in enumerate(hosts)
    }


def _host_snapshot(
    state: HostState, now: float, fields: Sequence[Any], policies: Mapping[bytes, bytes], slots: Any
) -> HostSnapshot:
    (sent,) = fields
    alive = {}
    for crawl, policy in policies.items():
        delay, connections, until = policy.split()
        if float(until) > now:
            alive[crawl.decode()] = PolicyInUse(float(delay), int(connections))
    return HostSnapshot(
        state=state,
        asked_at=float(sent) if sent else None,
        policies=alive,
        slots=Counter(crawl_of(holder.decode()) for holder in slots),
    )


def pages_of(redis: Redis, host: str, crawls: Sequence[str]) -> dict[str, int]:
    """The crawls that have pages of this host enqueued or handed out, and how many are enqueued."""
    lanes = lanes_of(host)
    with redis.pipeline(transaction=False) as pipe:
        for crawl in crawls:
            for lane in lanes:
                pipe.zcard(CrawlKeys(crawl).queue(lane))
            pipe.hmget(CrawlKeys(crawl).active, lanes)
        answers = pipe.execute()
    found, step = {}, len(lanes) + 1
    for place, crawl in enumerate(crawls):
        *waiting, active = answers[step * place : step * (place + 1)]
        if any(waiting) or any(active):
            found[crawl] = sum(waiting)
    return found


def end_waits(redis: Redis, host: str) -> bool:
    """Clear the host's stop and throttle, so that it may be asked at once; True if there was anything to clear."""
    return redis.hdel(keys.host(host), *_WAIT_FIELDS) > 0


class LaneSnapshot(msgspec.Struct, frozen=True):
    """A host with waiting pages, or a lane of it (`core.protocol.retries`). Times are epoch seconds."""

    lane: str
    next_at: float  # when its next slice may be handed out
    pages: int
    first_page: int | None  # id of the page that is due first
    first_due: float
    rest_until: float  # until then this crawl hands out no page of it
    shared: HostSnapshot

    @property
    def host(self) -> str:
        return retries.host_of(self.lane)


class Snapshot(msgspec.Struct, frozen=True):
    now: float  # epoch seconds, by the clock all workers agree on
    queue_side: QueueSide
    leases: Sequence[tuple[Lease, float]]  # with the time when each will be checked
    hosts: Sequence[LaneSnapshot]  # some of those that wait, the next one first
    held_hosts: Mapping[str, HostSnapshot]  # hosts of batches that are claimed, as many at most
    handed_out: int  # pages
    has_cursor: bool  # how far the table has flowed into the window is known
    lock_left: float | None  # seconds the tick at work still keeps others out; None = no tick is at work
    mark: Mark | None
    last_tick: TickEnd | None
    closing_at: float | None  # epoch seconds when pages close that their servers put off; None = others are left


def take_snapshot(frontier: Frontier, hosts_at_most: int) -> Snapshot:
    now = frontier.now()
    lock_ms = frontier.redis.pttl(frontier.keys.lock)
    leases = frontier.leases.all()
    held = [retries.host_of(lane) for lease, _ in leases if lease.held for lane, _ in lease.slices.values()]
    return Snapshot(
        now=now,
        queue_side=frontier.queue_side(),
        leases=leases,
        hosts=_lanes(frontier, now, hosts_at_most),
        held_hosts=host_snapshots(frontier.redis, list(dict.fromkeys(held))[:hosts_at_most], now),
        handed_out=frontier.ready_queue.handed_out(),
        has_cursor=frontier.ready_queue.has_cursor(),
        lock_left=lock_ms / 1000 if lock_ms > 0 else None,
        mark=frontier.results.mark(),
        last_tick=frontier.results.last_tick(),
        closing_at=frontier.known_close_at(),
    )


def _lanes(frontier: Frontier, now: float, at_most: int) -> list[LaneSnapshot]:
    first = cast(
        list[tuple[bytes, float]],
        frontier.redis.zrange(frontier.keys.of_suffix().hosts, 0, at_most - 1, withscores=True),
    )
    lanes = [(raw.decode(), next_at) for raw, next_at in first]
    shared = host_snapshots(frontier.redis, [retries.host_of(lane) for lane, _ in lanes], now)
    with frontier.redis.pipeline(transaction=False) as pipe:
        for lane, _ in lanes:
            pipe.zcard(frontier.keys.queue(lane))
            pipe.zrange(frontier.keys.queue(lane), 0, 0, withscores=True)
            pipe.hget(frontier.keys.rest, lane)
        answers = pipe.execute()
    return [
        _lane(lane, next_at, answers[3 * place : 3 * place + 3], shared[retries.host_of(lane)])
        for place, (lane, next_at) in enumerate(lanes)
    ]


def _lane(lane: str, next_at: float, answers: Sequence[Any], shared: HostSnapshot) -> LaneSnapshot:
    pages, first, rest = answers
    return LaneSnapshot(
        lane=lane,
        next_at=next_at,
        pages=pages,
        first_page=decode_member(first[0][0]) if first else None,
        first_due=float(first[0][1]) if first else 0.0,
        rest_until=float(rest or 0),
        shared=shared,
    )
