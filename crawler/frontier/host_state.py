"""Politeness state of hosts, shared by all crawls (Crawl-delay, throttle), and a crawl's unresponsive hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import HostStop, Throttle, after_responses, after_silence, usual_seconds
from crawler.frontier import keys
from crawler.frontier.keys import CrawlKeys

HOST_STATE_TTL_S = 24 * 3600
MIN_RESPONSE_TIME_CHANGE = 0.25  # relative; a smaller change of the response time is not stored

STOP_FIELDS = ["until", "stop_status", "stops", "stop_page", "refusals"]
_FIELDS = ["crawl_delay", "delay", "delay_at", "troubles", "answered", "seconds", "usual", "probe_until"]


@dataclass(frozen=True)
class HostState:
    """The state of one host."""

    crawl_delay: float | None = None  # seconds its robots.txt asks for
    throttle: Throttle = field(default_factory=Throttle)
    has_answered: bool = False  # responded within the last day
    stop: HostStop = field(default_factory=HostStop)
    probe_until: float = 0.0  # epoch seconds; after a stop, one page is tried until then
    response_s: float | None = None  # recent response time in seconds
    usual_s: float | None = None  # usual response time, see `usual_seconds`


class HostStates:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read(self, hosts: Sequence[str], now: float) -> dict[str, HostState]:
        """The state at `now` (epoch seconds): the throttle decays with time."""
        with self._redis.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.hmget(keys.host(host), _FIELDS + STOP_FIELDS)
            answers = cast(list[list[bytes | None]], pipe.execute())
        return {host: _host_state(fields, now) for host, fields in zip(hosts, answers, strict=True)}

    def note_crawl_delay(self, host: str, seconds: float) -> None:
        with self._redis.pipeline() as pipe:
            _write(pipe, host, {"crawl_delay": seconds})
            pipe.execute()

    def observe(
        self,
        host: str,
        follow: Callable[[Throttle], Throttle],
        now: float,
        *,
        crawl: str,
        has_answered: bool,
    ) -> Throttle:
        """Update the host's throttle. Of two concurrent updates one may be lost: the next one corrects that."""
        known = self.read([host], now)[host]
        throttle = follow(known.throttle)
        self._note(host, known, throttle, now, crawl, {"answered": 1} if has_answered else {})
        return throttle

    def observe_responses(self, host: str, mean_seconds: float, responses: int, now: float, crawl: str) -> Throttle:
        """The same after so many responses, with the host's response times."""
        known = self.read([host], now)[host]
        usual = usual_seconds(known.usual_s, mean_seconds)
        throttle = after_responses(known.throttle, mean_seconds, responses, usual)
        times: dict[Any, Any] = {"answered": 1}
        if not _is_about(known.response_s, mean_seconds):
            times["seconds"] = mean_seconds
        if known.usual_s is None or usual < known.usual_s or throttle.delay > 0:
            times["usual"] = usual
        self._note(host, known, throttle, now, crawl, times)
        return throttle

    def _note(
        self, host: str, known: HostState, throttle: Throttle, now: float, crawl: str, fields: dict[Any, Any]
    ) -> None:
        is_news = fields.keys() - {"answered"} or ("answered" in fields and not known.has_answered)
        if throttle != known.throttle or is_news:
            fields |= {"delay": throttle.delay, "delay_at": now, "troubles": throttle.troubles}
            with self._redis.pipeline() as pipe:
                _write(pipe, host, fields)
                if throttle.delay:
                    pipe.sadd(CrawlKeys(crawl).met, host)
                    pipe.expire(CrawlKeys(crawl).met, HOST_STATE_TTL_S)
                pipe.execute()


def _write(pipe: Redis, host: str, fields: dict[Any, Any]) -> None:
    pipe.hset(keys.host(host), mapping=fields)
    pipe.expire(keys.host(host), HOST_STATE_TTL_S)


def _is_about(known: float | None, seconds: float) -> bool:
    return known is not None and abs(seconds - known) <= MIN_RESPONSE_TIME_CHANGE * known


def _host_state(fields: list[bytes | None], now: float) -> HostState:
    crawl_delay, delay, delay_at, troubles, answered, seconds, usual, probe_until, *stop = fields
    learned = Throttle(float(delay or 0), int(troubles or 0))
    return HostState(
        crawl_delay=float(crawl_delay) if crawl_delay else None,
        throttle=after_silence(learned, now - float(delay_at or now)),
        has_answered=bool(answered),
        stop=stop_from(stop),
        probe_until=float(probe_until or 0),
        response_s=float(seconds) if seconds else None,
        usual_s=float(usual) if usual else None,
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


@dataclass(frozen=True)
class FailureStreak:
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
