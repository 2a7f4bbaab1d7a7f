"""What can be seen of a crawl in Redis at one moment: for people who wonder why it is not finished. It changes nothing,
and reads no more than a few hosts and the batches that are out, however large the crawl is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis

from crawler.core.crawl import retries
from crawler.core.crawl.completion import QueueSide
from crawler.core.crawl.retries import lanes_of
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_state import STOP_FIELDS, HostBook, Manners
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.leases import Lease
from crawler.frontier.ready_queue import page_of
from crawler.frontier.results import Mark, Tick

# What holds a host up over all crawls: what is known of it, who uses its connections, and the end of its waits.

_WAITS = [*STOP_FIELDS, "probe", "probe_until", "delay", "delay_at", "troubles"]
"""Fields of a host that make it wait. Its Crawl-delay is not among them: the site asked for that."""


@dataclass(frozen=True)
class Wished:
    """How a crawl at work wants the host to be asked."""

    delay: float  # seconds between two requests, at least
    connections: int  # at a time, at most


@dataclass(frozen=True)
class HostSeen:
    """What all crawls share of a host."""

    manners: Manners
    asked_at: float | None  # epoch seconds of the last request; None = not known
    wishes: Mapping[str, Wished]  # crawl -> its wish, of the crawls at work
    slots: Mapping[str, int]  # crawl -> connections in use ("" = not known whose)

    @property
    def connections(self) -> int:
        return sum(self.slots.values())

    @property
    def is_known(self) -> bool:
        return bool(self.asked_at is not None or self.wishes or self.slots or self.manners != Manners())


def holder_name(crawl: str, batch: str, number: int | str) -> str:
    """One slice at work, as a host's connections know it."""
    return f"{crawl}:{batch}:{number}"


def crawl_of(holder: str) -> str:
    """Whose slice that is; "" when an earlier version named it."""
    crawl, *rest = holder.split(":")
    return crawl if len(rest) == 2 else ""


def seen_of(redis: Redis, hosts: Sequence[str], now: float) -> dict[str, HostSeen]:
    known = HostBook(redis).read(hosts, now)
    with redis.pipeline(transaction=False) as pipe:
        for host in hosts:
            pipe.hmget(keys.host(host), ["sent"])
            pipe.hgetall(keys.host_wishes(host))
            pipe.zrangebyscore(keys.host_slots(host), f"({now}", "+inf")
        answers = pipe.execute()
    return {host: _seen(known[host], now, *answers[3 * place : 3 * place + 3]) for place, host in enumerate(hosts)}


def _seen(manners: Manners, now: float, fields: Sequence[Any], wishes: Mapping[bytes, bytes], slots: Any) -> HostSeen:
    (sent,) = fields
    alive = {}
    for crawl, wish in wishes.items():
        delay, connections, until = wish.split()
        if float(until) > now:
            alive[crawl.decode()] = Wished(float(delay), int(connections))
    return HostSeen(
        manners=manners,
        asked_at=float(sent) if sent else None,
        wishes=alive,
        slots=Counter(crawl_of(holder.decode()) for holder in slots),
    )


def pages_of(redis: Redis, host: str, crawls: Sequence[str]) -> dict[str, int]:
    """Those of the crawls that have pages of this host in their window or handed out, and how many wait there."""
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
    """The host may be asked at once, as if it had never been in trouble; whether there was anything to end."""
    return redis.hdel(keys.host(host), *_WAITS) > 0


@dataclass(frozen=True)
class LaneSeen:
    """A host with pages that wait, or a lane of it (`core.crawl.retries`). Moments are epoch seconds."""

    lane: str
    next_at: float  # when its next slice may be handed out
    pages: int
    first_page: int | None  # id of the page that is due first
    first_due: float
    rest_until: float  # until then this crawl hands out no page of it
    shared: HostSeen

    @property
    def host(self) -> str:
        return retries.host_of(self.lane)


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
    held = [retries.host_of(lane) for lease, _ in leases if lease.held for lane, _ in lease.slices.values()]
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
    shared = seen_of(frontier.redis, [retries.host_of(lane) for lane, _ in lanes], now)
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
