"""The throttle of a host, shared by all workers and crawls: what their responses say, and what follows from it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from msgspec.structs import asdict, astuple
from redis import Redis
from redis.client import Pipeline

from crawler.core.politeness import throttle as rules
from crawler.core.politeness.throttle import COMFORT_S, FORGET_S, LEVELS, Level, Slowdown, Throttle, Window
from crawler.frontier import keys, scripts
from crawler.frontier.keys import CrawlKeys

HOST_STATE_TTL_S = 24 * 3600

WINDOW_FIELDS = ["since", "responses", "logs", "squares"]
THROTTLE_FIELDS = ["throttle", "limit", "delay", "delay_at", "changed_at", *WINDOW_FIELDS]
"""Those that the Lua files read are also in the first one."""


@dataclass
class ResponseTimes:
    """Those of responses that were not reported yet."""

    window: Window = field(default_factory=Window)
    began: float = math.inf  # epoch seconds when the first request was sent
    last_began: float = -math.inf

    def add(self, seconds: float, now: float) -> None:
        self.window = self.window.plus(seconds)
        self.began, self.last_began = min(self.began, now - seconds), max(self.last_began, now - seconds)


class HostThrottles:
    """`crawl`: which crawl asks; it knows the throttle of a host from then on, see `CrawlKeys.met`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def note_responses(
        self, host: str, times: ResponseTimes, now: float, crawl: str, connections: int = LEVELS[-1]
    ) -> Throttle:
        """Responses that are no failures, of a crawl that would use so many connections."""
        added = times.window
        args = [now, repr(times.began), added.responses, repr(added.logs), repr(added.squares), HOST_STATE_TTL_S]
        args += [math.log(COMFORT_S), connections, FORGET_S / 2]
        raw, *window, slots = scripts.run(self._redis, "host_responses", [keys.host(host), keys.host_slots(host)], args)
        known = decode_throttle(raw, now)
        if not known.failures and not rules.is_full(known, _window(window), now):
            return known

        def follow(known: Throttle, window: Window) -> tuple[Throttle, bool]:
            return rules.after_report(known, window, max(1, slots), times.last_began, now)

        return self._update(host, follow, now, crawl)

    def note_failure(
        self, host: str, *, seconds: float, connections: int, status: int | None, now: float, crawl: str
    ) -> Throttle:
        """No response after so many seconds (`status` None), or a 429 or 503, with so many connections allowed."""

        def follow(known: Throttle, _: Window) -> tuple[Throttle, bool]:
            if not rules.counts(known, now - seconds):
                return known, False
            return rules.after_failure(known, connections, status, now), False

        return self._update(host, follow, now, crawl)

    def _update(
        self, host: str, follow: Callable[[Throttle, Window], tuple[Throttle, bool]], now: float, crawl: str
    ) -> Throttle:
        """`follow` returns the throttle, and whether the window ended."""
        key, met, slowed = keys.host(host), CrawlKeys(crawl).met, CrawlKeys(crawl).slowed

        def update(pipe: Pipeline) -> Throttle:
            raw, *window = cast(list[bytes | None], pipe.hmget(key, ["throttle", *WINDOW_FIELDS]))
            known = decode_throttle(raw, now)
            throttle, has_ended = follow(known, _window(window))
            slowdown = Slowdown.of(throttle)
            worst = cast(bytes | None, pipe.hget(slowed, host)) if slowdown else None
            pipe.multi()
            if throttle != known:
                pipe.hset(key, mapping=encoded_throttle(throttle, now))
            if has_ended:
                pipe.hset(key, mapping={"since": repr(now), "responses": 0, "logs": 0, "squares": 0})
            pipe.expire(key, HOST_STATE_TTL_S)
            if slowdown:
                pipe.sadd(met, host)
                pipe.expire(met, HOST_STATE_TTL_S)
                if worst is None or slowdown.is_worse_than(_slowdown(worst)):
                    pipe.hset(slowed, host, json.dumps(asdict(slowdown)))
                pipe.expire(slowed, HOST_STATE_TTL_S)
            return throttle

        # Its type says that the function returns nothing, although this flag makes it return what the function does.
        return cast(Throttle, self._redis.transaction(update, key, value_from_callable=True))  # type: ignore[arg-type]


def slowed_hosts(redis: Redis, crawl: str, at_most: int) -> dict[str, Slowdown]:
    """The hosts that were slowed down most while the crawl fetched from them, the worst first, each at its worst."""
    raw = cast(dict[bytes, bytes], redis.hgetall(CrawlKeys(crawl).slowed))
    found = [(host.decode(), _slowdown(value)) for host, value in raw.items()]
    found.sort(key=lambda item: (item[1].connections, -item[1].delay, item[0]))
    return dict(found[:at_most])


def _slowdown(raw: bytes) -> Slowdown:
    return Slowdown.from_plain(json.loads(raw))


def _window(raw: Sequence[Any]) -> Window:
    since, responses, logs, squares = raw
    return Window(float(since or 0), int(responses or 0), float(logs or 0), float(squares or 0))


def encoded_throttle(throttle: Throttle, now: float) -> dict[Any, Any]:
    """The fields of the host that are stored for it."""
    known = {name: value for name, value in asdict(throttle).items() if value != _DEFAULTS[name]}
    known["levels"] = [list(astuple(level)) for level in throttle.levels.values()]
    return {
        "throttle": json.dumps(known, separators=(",", ":")),
        "limit": throttle.connections,
        "delay": throttle.delay,
        "delay_at": now,
        "changed_at": repr(throttle.changed_at),
    }


def decode_throttle(raw: bytes | None, now: float) -> Throttle:
    """What is stored, at this moment."""
    if not raw:
        return Throttle()
    known = json.loads(raw)
    levels = {level[0]: Level(*level) for level in known.pop("levels")}
    # A later version may store more: its workers run beside those of this one.
    return rules.after_silence(Throttle(**{k: v for k, v in known.items() if k in _DEFAULTS}, levels=levels), now)


_DEFAULTS = asdict(Throttle())
