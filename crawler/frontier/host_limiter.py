"""One host's connections and delay, kept over all workers and all crawls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline

from crawler.core.crawl.politeness import HALF_LIFE_S, HostStop, Refusal, after_refusal
from crawler.frontier import keys, scripts
from crawler.frontier.host_state import KEPT, STOP_FIELDS, stop_from

HEARD_WITHIN = 0.05  # seconds after which a slice that keeps no delay asks again whether there is one by now
HOLDER_SECONDS = 10.0  # whoever has a turn and has not sent its request after this is not waited for
TRIAL_S = 15.0  # after a stop, the slice that tries one page is waited for so long
TRIAL_LOOK_S = 0.25  # between two looks at what came of it


@dataclass(frozen=True)
class Wish:
    """How one crawl wants a host to be asked. Of several crawls of one host the strictest wish counts."""

    crawl: str
    delay: float = 0.0  # seconds between two requests, at least
    connections: int = 1  # at a time, at most
    throttled: bool = True  # whether the automatic throttle counts


class Entry(IntEnum):
    """What came of asking for one of a host's connections."""

    NONE_FREE = 0
    ENTERED = 1
    FIRST_TIME = 2  # entered, and the crawl may make one request without the throttle's delay


@dataclass(frozen=True)
class Turn:
    """Whether a host may be asked now, when to come again, and the delay it is asked at."""

    granted: bool
    next_at: float  # epoch seconds
    delay: float  # seconds
    on_trial: bool = False  # the host was stopped: a response ends that, see `Gate.resume`


class Gate:
    """`holder` names one slice at work; a slot it does not renew is free again after `slot_seconds`."""

    def __init__(self, redis: Redis, slot_seconds: float) -> None:
        self._redis, self._slot_seconds = redis, slot_seconds

    def enter(self, host: str, holder: str, wish: Wish, now: float) -> Entry:
        """Take, or renew, one of the host's connections."""
        return Entry(self._enter(host, holder, wish, now, self._redis))

    def renew(self, host: str, holder: str, wish: Wish, now: float, pipe: Redis) -> None:
        """The same for a connection that is held already, with whatever else this pipeline does."""
        self._enter(host, holder, wish, now, pipe)

    def _enter(self, host: str, holder: str, wish: Wish, now: float, redis: Redis) -> Any:
        args = [holder, wish.crawl, now, now + self._slot_seconds, wish.delay, wish.connections, HEARD_WITHIN]
        met = keys.CrawlKeys(wish.crawl).met
        where = [keys.host_slots(host), keys.host_wishes(host), keys.host(host), met]
        return scripts.run(redis, "enter", where, [*args, host, KEPT])

    def leave(self, host: str, holder: str) -> None:
        self._redis.zrem(keys.host_slots(host), holder)

    def turn(self, host: str, holder: str, wish: Wish, now: float) -> Turn:
        """Take the turn at this host, if its delay has passed since the last request was sent and nobody else has it.
        With a delay, whoever is granted one must call `sent`."""
        throttled = 1 if wish.throttled else 0
        args = [holder, wish.crawl, now, wish.delay, wish.connections, throttled, self._slot_seconds]
        args += [HOLDER_SECONDS, HEARD_WITHIN, HALF_LIFE_S, TRIAL_S, TRIAL_LOOK_S]
        where = [keys.host(host), keys.host_wishes(host)]
        granted, next_at, delay, on_trial = scripts.run(self._redis, "turn", where, args)
        return Turn(granted == 1, float(next_at), float(delay), on_trial == 1)

    def sent(self, host: str, holder: str, now: float) -> None:
        """The request of a turn was sent, or came to nothing."""
        scripts.run(self._redis, "sent", [keys.host(host)], [holder, f"{now:.6f}"])

    def refuse(self, host: str, refusal: Refusal, now: float, longest: float) -> HostStop:
        """A response asked to wait: stop the host if the evidence suffices, for `longest` seconds at most."""
        key = keys.host(host)

        def note(pipe: Pipeline) -> HostStop:
            known = stop_from(cast(list[bytes | None], pipe.hmget(key, STOP_FIELDS)))
            stop = after_refusal(known, refusal, now, longest)
            pipe.multi()
            pipe.hset(key, mapping=_stored(stop))
            pipe.hdel(key, "probe", "probe_until")
            pipe.expire(key, KEPT)
            return stop

        # Its type says that the function returns nothing, although this flag makes it return what the function does.
        return cast(HostStop, self._redis.transaction(note, key, value_from_callable=True))  # type: ignore[arg-type]

    def resume(self, host: str) -> None:
        """The host has answered: whatever it said before, it may be asked."""
        self._redis.hdel(keys.host(host), *STOP_FIELDS, "probe", "probe_until")


def _stored(stop: HostStop) -> dict[Any, Any]:
    refusals = " ".join(f"{page}:{at:.3f}" for page, at in stop.refusals)
    return {
        "until": f"{stop.until:.6f}",
        "stop_status": stop.status or "",
        "stops": stop.stops,
        "stop_page": stop.page,
        "refusals": refusals,
    }
