"""What all crawls know of hosts: their Crawl-delay, the throttle's state, whether they ever answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from redis import Redis

from crawler.core.throttle import Throttle
from crawler.frontier import keys

KEPT = 24 * 3600  # seconds

NEWS = 0.25  # by which share an answer's time must differ from what is known to be worth noting

_FIELDS = ["crawl_delay", "delay", "troubles", "answered", "until", "seconds"]


@dataclass(frozen=True)
class Manners:
    """What is known of one host."""

    crawl_delay: float | None = None  # seconds its robots.txt asks for
    throttle: Throttle = field(default_factory=Throttle)
    has_answered: bool = False  # within the last day
    until: float = 0.0  # epoch seconds before which it wants no request at all
    seconds: float | None = None  # it takes for an answer, as of late


class HostBook:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read(self, hosts: Sequence[str]) -> dict[str, Manners]:
        with self._redis.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.hmget(keys.host(host), _FIELDS)
            answers = cast(list[list[bytes | None]], pipe.execute())
        return {host: _manners(fields) for host, fields in zip(hosts, answers, strict=True)}

    def note_crawl_delay(self, host: str, seconds: float) -> None:
        self._write(host, {"crawl_delay": seconds})

    def observe(
        self, host: str, follow: Callable[[Throttle], Throttle], *, has_answered: bool, seconds: float | None = None
    ) -> Throttle:
        """Move the host's throttle, and note how many `seconds` its answers take. Of two observations at one moment one
        may be lost: the next makes up for it."""
        known = self.read([host])[host]
        throttle = follow(known.throttle)
        is_news = seconds is not None and not _is_about(known.seconds, seconds)
        if throttle != known.throttle or is_news or (has_answered and not known.has_answered):
            fields: dict[Any, Any] = {"delay": throttle.delay, "troubles": throttle.troubles}
            fields |= {"answered": 1} if has_answered else {}
            self._write(host, fields | ({"seconds": seconds} if is_news else {}))
        return throttle

    def _write(self, host: str, fields: dict[Any, Any]) -> None:
        with self._redis.pipeline() as pipe:
            pipe.hset(keys.host(host), mapping=fields)
            pipe.expire(keys.host(host), KEPT)
            pipe.execute()


def _is_about(known: float | None, seconds: float) -> bool:
    return known is not None and abs(seconds - known) <= NEWS * known


def _manners(fields: list[bytes | None]) -> Manners:
    crawl_delay, delay, troubles, answered, until, seconds = fields
    return Manners(
        crawl_delay=float(crawl_delay) if crawl_delay else None,
        throttle=Throttle(float(delay or 0), int(troubles or 0)),
        has_answered=bool(answered),
        until=float(until or 0),
        seconds=float(seconds) if seconds else None,
    )
