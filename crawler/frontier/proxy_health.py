"""Which proxies of a crawl cannot be connected to, known to all its workers. Nothing depends on it: a lost entry is
learned again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

from crawler.clock import Clock
from crawler.frontier.keys import CrawlKeys

log = logging.getLogger(__name__)

MAX_FAILURES = 3  # in a row, after which a proxy is left out
LEFT_OUT_S = 60.0
TTL_S = 3600  # a job that ends after its crawl leaves nothing for longer


class ProxyHealth:
    """By the number of each proxy in the crawl's list, from 0."""

    def __init__(self, redis: Redis, keys: CrawlKeys, now: Clock) -> None:
        self._redis, self._key, self._now = redis, keys.proxies, now
        self._failing: set[str] = set()  # fields of failures, as they were read

    def left_out(self) -> dict[int, float]:
        """Number -> until when (epoch seconds)."""
        try:
            fields = cast(Mapping[bytes, bytes], self._redis.hgetall(self._key))
        except RedisError as error:
            log.warning("it is not known which proxies are left out: %s", error)
            return {}
        self._failing = {name.decode() for name in fields if name.startswith(b"failures:")}
        until = {int(name[6:]): float(value) for name, value in fields.items() if name.startswith(b"until:")}
        return {number: moment for number, moment in until.items() if moment > self._now()}

    def note_failure(self, number: int) -> None:
        """After MAX_FAILURES in a row it is left out for LEFT_OUT_S."""
        field = f"failures:{number}"
        try:
            with self._redis.pipeline() as pipe:
                pipe.hincrby(self._key, field, 1)
                pipe.expire(self._key, TTL_S)
                failures = pipe.execute()[0]
            self._failing.add(field)
            if failures >= MAX_FAILURES:
                with self._redis.pipeline() as pipe:
                    pipe.hset(self._key, f"until:{number}", self._now() + LEFT_OUT_S)
                    pipe.hdel(self._key, field)
                    pipe.execute()
        except RedisError as error:
            log.warning("it is not noted that a proxy fails: %s", error)

    def note_success(self, number: int) -> None:
        field = f"failures:{number}"
        if field not in self._failing:
            return
        try:
            self._redis.hdel(self._key, field)
            self._failing.discard(field)
        except RedisError as error:
            log.warning("it is not noted that a proxy works: %s", error)
