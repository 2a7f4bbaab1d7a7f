"""What can be seen of a crawl in Redis at one moment: for people who wonder why it is not finished. It changes nothing,
and reads no more than a few hosts and the batches that are out, however large the crawl is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from crawler.core import suspects
from crawler.core.completion import QueueSide
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.leases import Lease
from crawler.frontier.members import page_of
from crawler.frontier.results import Mark, Tick


@dataclass(frozen=True)
class HostSeen:
    """A host with pages that wait, or a lane of it (`core.suspects`). Moments are epoch seconds."""

    lane: str
    next_at: float  # when its next slice may be handed out
    pages: int
    first_page: int | None  # id of the page that is due first
    first_due: float
    rest_until: float  # until then this crawl leaves it in peace
    turn_at: float  # when its delay, kept over all crawls, has passed
    crawl_delay: float | None  # seconds, by its robots.txt
    connections: int  # in use now, over all crawls

    @property
    def host(self) -> str:
        return suspects.host_of(self.lane)


@dataclass(frozen=True)
class Glance:
    now: float  # epoch seconds, by the clock all workers agree on
    queue_side: QueueSide
    leases: Sequence[tuple[Lease, float]]  # with the moment when somebody will look at each
    hosts: Sequence[HostSeen]  # some of those that wait, the next one first
    handed_out: int  # pages
    is_lined_up: bool  # how far the table has flowed into the window is known
    lock_left: float | None  # seconds the tick at work still keeps others out; None = no tick is at work
    mark: Mark | None
    last_tick: Tick | None


def glance(frontier: Frontier, hosts_at_most: int) -> Glance:
    now = frontier.now()
    lock_ms = frontier.redis.pttl(frontier.keys.lock)
    return Glance(
        now=now,
        queue_side=frontier.queue_side(),
        leases=frontier.leases.all(),
        hosts=_hosts(frontier, now, hosts_at_most),
        handed_out=frontier.window.taken(),
        is_lined_up=frontier.window.is_lined_up(),
        lock_left=lock_ms / 1000 if lock_ms > 0 else None,
        mark=frontier.results.mark(),
        last_tick=frontier.results.last_tick(),
    )


def _hosts(frontier: Frontier, now: float, at_most: int) -> list[HostSeen]:
    first = cast(
        list[tuple[bytes, float]],
        frontier.redis.zrange(frontier.keys.hosts, 0, at_most - 1, withscores=True),
    )
    lanes = [(raw.decode(), next_at) for raw, next_at in first]
    with frontier.redis.pipeline(transaction=False) as pipe:
        for lane, _ in lanes:
            host = suspects.host_of(lane)
            pipe.zcard(frontier.keys.queue(lane))
            pipe.zrange(frontier.keys.queue(lane), 0, 0, withscores=True)
            pipe.hget(frontier.keys.rest, lane)
            pipe.hmget(keys.host(host), ["sent", "delay", "until", "crawl_delay"])
            pipe.hvals(keys.host_wishes(host))
            pipe.zcount(keys.host_slots(host), f"({now}", "+inf")
        answers = pipe.execute()
    return [_host(lane, next_at, answers[6 * place : 6 * place + 6]) for place, (lane, next_at) in enumerate(lanes)]


def _host(lane: str, next_at: float, answers: Sequence[Any]) -> HostSeen:
    pages, first, rest, (sent, delay, until, crawl_delay), wishes, connections = answers
    slowed = max(float(delay or 0), *(float(wish.split()[0]) for wish in wishes), 0.0)
    return HostSeen(
        lane=lane,
        next_at=next_at,
        pages=pages,
        first_page=page_of(first[0][0]) if first else None,
        first_due=float(first[0][1]) if first else 0.0,
        rest_until=float(rest or 0),
        turn_at=max(float(sent) + slowed if sent else 0.0, float(until or 0)),
        crawl_delay=float(crawl_delay) if crawl_delay else None,
        connections=connections,
    )
