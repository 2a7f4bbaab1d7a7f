"""Politeness state of hosts, shared by all crawls (Crawl-delay, throttle), and a crawl's unresponsive hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec
from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import HostStop
from crawler.core.politeness.throttle import Throttle
from crawler.frontier import keys
from crawler.frontier.host_throttle import HOST_STATE_TTL_S, HostThrottles, decode_throttle
from crawler.frontier.keys import CrawlKeys

STOP_FIELDS = ["until", "stop_status", "stops", "stop_page", "refusals"]
_FIELDS = ["crawl_delay", "throttle", "answered", "probe_until"]


class HostState(msgspec.Struct, frozen=True):
    """The state of one host."""

    crawl_delay: float | None = None  # seconds its robots.txt asks for
    throttle: Throttle = msgspec.field(default_factory=Throttle)
    has_answered: bool = False  # responded within the last day
    stop: HostStop = msgspec.field(default_factory=HostStop)
    probe_until: float = 0.0  # epoch seconds; after a stop, one page is tried until then

    @property
    def response_s(self) -> float | None:
        """Recent response time in seconds."""
        return self.throttle.seconds or None


class HostStates:
    def __init__(self, redis: Redis) -> None:
        self._redis, self.throttles = redis, HostThrottles(redis)

    def read(self, hosts: Sequence[str], now: float) -> dict[str, HostState]:
        """The state at `now` (epoch seconds)."""
        with self._redis.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.hmget(keys.host(host), _FIELDS + STOP_FIELDS)
            answers = cast(list[list[bytes | None]], pipe.execute())
        return {host: _host_state(fields, now) for host, fields in zip(hosts, answers, strict=True)}

    def note_crawl_delay(self, host: str, seconds: float) -> None:
        self._note(host, "crawl_delay", seconds)

    def note_response(self, host: str) -> None:
        """It responded, if only with a failure."""
        self._note(host, "answered", 1)

    def _note(self, host: str, name: str, value: float) -> None:
        with self._redis.pipeline() as pipe:
            pipe.hset(keys.host(host), name, str(value))
            pipe.expire(keys.host(host), HOST_STATE_TTL_S)
            pipe.execute()


def _host_state(fields: list[bytes | None], now: float) -> HostState:
    crawl_delay, throttle, answered, probe_until, *stop = fields
    return HostState(
        crawl_delay=float(crawl_delay) if crawl_delay else None,
        throttle=decode_throttle(throttle, now),
        has_answered=bool(answered),
        stop=stop_from(stop),
        probe_until=float(probe_until or 0),
    )


def stop_from(fields: list[bytes | None]) -> HostStop:
    """What is stored as STOP_FIELDS."""
    until, status, stops, page, refusals = fields
    noted = (entry.split(":") for entry in (refusals or b"").decode().split())
    return HostStop(
        until=float(until or 0),
        status=int(status) if status else None,
        stops=int(stops or 0),
        page=(page or b"").decode(),
        refusals=tuple((by, float(at)) for by, at in noted),
    )


# Hosts of a crawl that do not respond, or whose robots.txt is unreachable: how often in a row, since when, and how.


class FailureStreak(msgspec.Struct, frozen=True):
    times: int  # in a row
    since: float  # epoch seconds
    outcome: Outcome  # of the last time


class UnresponsiveHosts:
    """Stored per crawl: a new crawl tries its hosts again."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis, self._key = redis, keys.silent

    def get(self, host: str) -> FailureStreak | None:
        raw = cast(bytes | None, self._redis.hget(self._key, host))
        if raw is None:
            return None
        times, since, outcome = raw.decode().split(" ")
        return FailureStreak(int(times), float(since), Outcome(outcome))

    def among(self, hosts: Sequence[str]) -> set[str]:
        """The unresponsive ones of these hosts."""
        known = cast(list[bytes | None], self._redis.hmget(self._key, list(hosts)))
        return {host for host, raw in zip(hosts, known, strict=True) if raw is not None}

    def record_failure(self, host: str, outcome: Outcome, now: float) -> FailureStreak:
        """The host did not respond once more. Of two concurrent calls one may be lost."""
        known = self.get(host)
        streak = FailureStreak(known.times + 1, known.since, outcome) if known else FailureStreak(1, now, outcome)
        self._redis.hset(self._key, host, f"{streak.times} {streak.since} {streak.outcome.value}")
        return streak

    def remove(self, host: str) -> None:
        """The host has responded."""
        self._redis.hdel(self._key, host)

    def clear(self) -> None:
        self._redis.delete(self._key)
