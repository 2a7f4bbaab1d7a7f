"""What all crawls know of hosts: their Crawl-delay, the throttle's state, whether they ever answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from redis import Redis

from crawler.core.crawl.politeness import HostStop, Throttle, after_silence
from crawler.frontier import keys
from crawler.frontier.keys import CrawlKeys

KEPT = 24 * 3600  # seconds

NEWS = 0.25  # by which share an answer's time must differ from what is known to be worth noting

STOP_FIELDS = ["until", "stop_status", "stops", "stop_page", "refusals"]
_FIELDS = ["crawl_delay", "delay", "delay_at", "troubles", "answered", "seconds", "probe_until"]


@dataclass(frozen=True)
class Manners:
    """What is known of one host."""

    crawl_delay: float | None = None  # seconds its robots.txt asks for
    throttle: Throttle = field(default_factory=Throttle)
    has_answered: bool = False  # within the last day
    stop: HostStop = field(default_factory=HostStop)
    probe_until: float = 0.0  # epoch seconds; after a stop, a page is being tried till then
    seconds: float | None = None  # it takes for an answer, as of late


class HostBook:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read(self, hosts: Sequence[str], now: float) -> dict[str, Manners]:
        """What is known at this moment, in epoch seconds: the throttle forgets with time."""
        with self._redis.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.hmget(keys.host(host), _FIELDS + STOP_FIELDS)
            answers = cast(list[list[bytes | None]], pipe.execute())
        return {host: _manners(fields, now) for host, fields in zip(hosts, answers, strict=True)}

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
        seconds: float | None = None,
    ) -> Throttle:
        """Move the host's throttle by what this crawl saw, and note how many `seconds` its answers take. Of two
        observations at one moment one may be lost: the next makes up for it."""
        known = self.read([host], now)[host]
        throttle = follow(known.throttle)
        is_news = seconds is not None and not _is_about(known.seconds, seconds)
        if throttle != known.throttle or is_news or (has_answered and not known.has_answered):
            fields: dict[Any, Any] = {"delay": throttle.delay, "delay_at": now, "troubles": throttle.troubles}
            fields |= {"answered": 1} if has_answered else {}
            with self._redis.pipeline() as pipe:
                _write(pipe, host, fields | ({"seconds": seconds} if is_news else {}))
                if throttle.delay:
                    pipe.sadd(CrawlKeys(crawl).met, host)
                    pipe.expire(CrawlKeys(crawl).met, KEPT)
                pipe.execute()
        return throttle


def _write(pipe: Redis, host: str, fields: dict[Any, Any]) -> None:
    pipe.hset(keys.host(host), mapping=fields)
    pipe.expire(keys.host(host), KEPT)


def _is_about(known: float | None, seconds: float) -> bool:
    return known is not None and abs(seconds - known) <= NEWS * known


def _manners(fields: list[bytes | None], now: float) -> Manners:
    crawl_delay, delay, delay_at, troubles, answered, seconds, probe_until, *stop = fields
    learned = Throttle(float(delay or 0), int(troubles or 0))
    return Manners(
        crawl_delay=float(crawl_delay) if crawl_delay else None,
        throttle=after_silence(learned, now - float(delay_at or now)),
        has_answered=bool(answered),
        stop=stop_from(stop),
        probe_until=float(probe_until or 0),
        seconds=float(seconds) if seconds else None,
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
