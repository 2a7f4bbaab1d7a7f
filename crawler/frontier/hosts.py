"""What holds a host up over all crawls: what is known of it, who uses its connections, and the end of its waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis import Redis

from crawler.core.suspects import lanes_of
from crawler.frontier import keys
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.manners import STOP_FIELDS, HostBook, Manners

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
