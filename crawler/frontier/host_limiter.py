"""Limits the connections and the request rate of a host over all workers and crawls."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, cast

import msgspec
from redis import Redis
from redis.client import Pipeline

from crawler.core.politeness.host_rules import HostStop, Refusal, after_refusal
from crawler.core.politeness.throttle import FORGET_S, START
from crawler.frontier import keys, scripts
from crawler.frontier.host_state import STOP_FIELDS, stop_from
from crawler.frontier.host_throttle import HOST_STATE_TTL_S, THROTTLE_FIELDS

POLICY_RECHECK_S = 0.05  # a slice without a delay checks again after this whether there is one by now
MAX_GRANT_HOLD_S = 10.0  # a grant whose request was not sent after this is void
TRIAL_TIMEOUT_S = 15.0  # after a stop, the slice that tries one page is waited for this long
TRIAL_POLL_S = 0.25  # between two checks of its result
EXCESS_POLL_S = 0.25  # a holder that is one too many, because the limit has fallen, asks again after this
WANTED_S = 0.25  # for which a slot counts as wanted after a slice asked for it in vain: it asks more often


class HostPolicy(msgspec.Struct, frozen=True):
    """One crawl's limits for a host. Of several crawls of one host the strictest policy counts."""

    crawl: str
    delay: float = 0.0  # seconds between two requests, at least
    connections: int = 1  # at a time, at most
    throttled: bool = True  # whether the automatic throttle counts


class SlotResult(IntEnum):
    """The result of requesting a slot."""

    NONE_FREE = 0
    TAKEN = 1
    FIRST_TIME = 2  # entered, and the crawl may make one request without the throttle's delay


class Grant(msgspec.Struct, frozen=True):
    """Whether a request may be sent now, when to ask again, and the delay that applies."""

    granted: bool
    next_at: float  # epoch seconds
    delay: float  # seconds
    on_trial: bool = False  # the host was stopped: a response ends that, see `HostLimiter.clear_stop`
    is_for_all: bool = False  # any other holder with the same policy would get one now


class HostLimiter:
    """`holder` names one slice at work; a slot that is not renewed expires after `slot_seconds`."""

    def __init__(self, redis: Redis, slot_seconds: float) -> None:
        self._redis, self.slot_seconds = redis, slot_seconds

    def take_slot(self, host: str, holder: str, policy: HostPolicy, now: float) -> SlotResult:
        """Take, or renew, one of the host's slots."""
        return SlotResult(self._take_slot(host, holder, policy, now, self._redis))

    def renew_slot(self, host: str, holder: str, policy: HostPolicy, now: float, pipe: Redis) -> None:
        """Renew a slot in a pipeline."""
        self._take_slot(host, holder, policy, now, pipe)

    def _take_slot(self, host: str, holder: str, policy: HostPolicy, now: float, redis: Redis) -> Any:
        args = [holder, policy.crawl, now, now + self.slot_seconds, policy.delay, policy.connections, POLICY_RECHECK_S]
        met = keys.CrawlKeys(policy.crawl).met
        where = [keys.host_slots(host), keys.host_policies(host), keys.host(host), met]
        args += [host, HOST_STATE_TTL_S, 1 if policy.throttled else 0, START, FORGET_S]
        return scripts.run(redis, "host_slot", where, [*args, *THROTTLE_FIELDS])

    def release_slot(self, host: str, holder: str) -> None:
        self._redis.zrem(keys.host_slots(host), holder)

    def is_wanted(self, host: str, now: float) -> bool:
        """Whether a slice, of this worker or another, waits for a slot of the host."""
        at = cast(bytes | None, self._redis.hget(keys.host(host), "wanted"))
        return at is not None and 0 <= now - float(at) <= WANTED_S

    def request_grant(self, host: str, holder: str, policy: HostPolicy, now: float) -> Grant:
        """Request a grant: given if the delay has passed since the last request and no other slice holds one. With a
        delay, the holder of a grant must call `note_sent`."""
        throttled = 1 if policy.throttled else 0
        args = [holder, policy.crawl, now, policy.delay, policy.connections, throttled, self.slot_seconds]
        args += [MAX_GRANT_HOLD_S, POLICY_RECHECK_S, FORGET_S, TRIAL_TIMEOUT_S, TRIAL_POLL_S, EXCESS_POLL_S]
        where = [keys.host(host), keys.host_policies(host), keys.host_slots(host)]
        granted, next_at, delay, on_trial, for_all = scripts.run(self._redis, "host_grant", where, args)
        return Grant(granted == 1, float(next_at), float(delay), on_trial == 1, for_all == 1)

    def note_sent(self, host: str, holder: str, now: float) -> None:
        """The request of a grant was sent, or the grant was given up."""
        scripts.run(self._redis, "host_sent", [keys.host(host)], [holder, f"{now:.6f}"])

    def note_refusal(self, host: str, refusal: Refusal, now: float, longest: float) -> HostStop:
        """Record a Retry-After: stop the host if the evidence suffices, for `longest` seconds at most."""
        key = keys.host(host)

        def note(pipe: Pipeline) -> HostStop:
            known = stop_from(cast(list[bytes | None], pipe.hmget(key, STOP_FIELDS)))
            stop = after_refusal(known, refusal, now, longest)
            pipe.multi()
            pipe.hset(key, mapping=_stored(stop))
            pipe.hdel(key, "probe", "probe_until")
            pipe.expire(key, HOST_STATE_TTL_S)
            return stop

        # Its type says that the function returns nothing, although this flag makes it return what the function does.
        return cast(HostStop, self._redis.transaction(note, key, value_from_callable=True))  # type: ignore[arg-type]

    def clear_stop(self, host: str) -> None:
        """The host has responded: end its stop."""
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
