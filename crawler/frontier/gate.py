"""One host's connections and delay, kept over all workers and all crawls."""

from __future__ import annotations

from dataclasses import dataclass

from redis import Redis

from crawler.core.politeness import LONGEST_STOP
from crawler.frontier import keys, script

HEARD_WITHIN = 0.05  # seconds after which a slice that keeps no delay asks again whether there is one by now
HOLDER_SECONDS = 10.0  # whoever has a turn and has not sent its request after this is not waited for


@dataclass(frozen=True)
class Wish:
    """How one crawl wants a host to be asked. Of several crawls of one host the strictest wish counts."""

    crawl: str
    delay: float = 0.0  # seconds between two requests, at least
    connections: int = 1  # at a time, at most
    throttled: bool = True  # whether the automatic throttle counts


@dataclass(frozen=True)
class Turn:
    """Whether a host may be asked now, when to come again, and the delay it is asked at."""

    granted: bool
    next_at: float  # epoch seconds
    delay: float  # seconds


class Gate:
    """`holder` names one slice at work; a slot it does not renew is free again after `slot_seconds`."""

    def __init__(self, redis: Redis, slot_seconds: float) -> None:
        self._redis, self._slot_seconds = redis, slot_seconds

    def enter(self, host: str, holder: str, wish: Wish, now: float, redis: Redis | None = None) -> bool:
        """Take, or renew, one of the host's connections; False when all are in use. `redis` may be a pipeline."""
        args = [holder, wish.crawl, now, now + self._slot_seconds, wish.delay, wish.connections, HEARD_WITHIN]
        where = [keys.host_slots(host), keys.host_wishes(host), keys.host(host)]
        return bool(script.run(redis or self._redis, "enter", where, args) == 1)

    def leave(self, host: str, holder: str) -> None:
        self._redis.zrem(keys.host_slots(host), holder)

    def turn(self, host: str, holder: str, wish: Wish, now: float) -> Turn:
        """Take the turn at this host, if its delay has passed since the last request was sent and nobody else has it.
        With a delay, whoever is granted one must call `sent`."""
        throttled = 1 if wish.throttled else 0
        args = [holder, wish.crawl, now, wish.delay, wish.connections, throttled, self._slot_seconds]
        args += [HOLDER_SECONDS, HEARD_WITHIN]
        granted, next_at, delay = script.run(self._redis, "turn", [keys.host(host), keys.host_wishes(host)], args)
        return Turn(granted=bool(granted == 1), next_at=float(next_at), delay=float(delay))

    def sent(self, host: str, holder: str, now: float) -> None:
        """The request of a turn was sent, or came to nothing."""
        script.run(self._redis, "sent", [keys.host(host)], [holder, f"{now:.6f}"])

    def stop(self, host: str, seconds: float, now: float) -> float:
        """Nobody may ask this host for so long, an hour at most; epoch seconds when it may be asked again."""
        until = now + min(seconds, LONGEST_STOP)
        script.run(self._redis, "stop", [keys.host(host)], [f"{until:.6f}"])
        return until
