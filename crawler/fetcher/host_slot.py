"""A slice's client of the host limiter: its slot, its grants, and what its responses say about the host."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from redis import Redis

from crawler import conf
from crawler.clock import Clock
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness import host_rules
from crawler.core.politeness.host_rules import BUSY_STATUSES, Refusal, Throttle
from crawler.core.protocol.messages import PageResult
from crawler.core.urls.normalise import key_of
from crawler.frontier.host_limiter import POLICY_RECHECK_S, HostLimiter, HostPolicy, SlotResult
from crawler.frontier.host_state import HostStates
from crawler.http.errors import Aborted
from crawler.http.event_loop import sleep
from crawler.queueing import queues

BEGIN_MARGIN_S = 2.5  # a request is begun only while the slot is valid for longer than this, else it is taken again
END_MARGIN_S = 2.0
"""A request under way is ended once the slot is not valid for longer than this. It covers the interval of `SlotWatch`,
the way to the host, and the error of the clock of the worker that takes the slot next."""
SLOT_RETRY_S = 0.25  # between two attempts to get a lost slot again


@dataclass(frozen=True)
class RateLimited:
    """Rate-limited until `at` (epoch seconds)."""

    at: float


class HostSlot:
    """`next_at` tells the manager when the host may be asked again (epoch seconds). Only `wait_for_grant` waits.

    How long the slot is valid counts from when Redis was asked, not from its answer, which may come late.
    `now` is the shared clock, by which Redis lets the slot expire; `monotonic` never asks Redis.
    """

    def __init__(
        self,
        limiter: HostLimiter,
        host_states: HostStates,
        host: str,
        holder: str,
        policy: HostPolicy,
        now: Clock,
        monotonic: Clock,
    ) -> None:
        self._limiter, self._host_states, self._host = limiter, host_states, host
        self._own_holder = self._holder = holder
        self._policy, self._chosen_delay = policy, policy.delay
        self._now, self._monotonic = now, monotonic
        self.next_at = 0.0
        self._delay = policy.delay
        self._checked_at = 0.0  # when the limiter was last asked
        self._has_grant = False  # granted, and no request sent yet
        self._responses, self._response_seconds = 0, 0.0  # not reported to the throttle yet
        self._has_response_since_refusal = False  # whether there was a response since the last refusal
        self._on_trial = False  # the host was stopped: the next response ends that
        self._is_first_try = False  # of this crawl at a throttled host: its delay does not count
        self._is_unthrottled = False  # the throttle is known to do nothing
        self._has_slot = False
        self._valid_until = 0.0  # monotonic seconds; what other threads may read
        self._lock = threading.Lock()  # the heartbeat renews from a thread of its own

    def begin(self, holder: str | None = None) -> bool:
        """Take one of the host's slots, or continue with that of this `holder`; False when all are in use by other
        crawls or slices."""
        with self._lock:
            self._holder = holder or self._own_holder
            entry = self._take()
            self._has_slot = entry is not SlotResult.NONE_FREE
            self._is_first_try = entry is SlotResult.FIRST_TIME
        return self._has_slot

    def detach(self) -> tuple[HostLimiter, str] | None:
        """End without releasing the slot: its limiter and holder, for the slice that reuses the connection. None for a
        host with a delay: keeping its slot would only block others."""
        with self._lock:
            if not self._has_slot or not self.is_valid() or self._delay > 0:
                return None
            self._has_slot = False
        self._report_responses()
        return self._limiter, self._holder

    def is_valid(self) -> bool:
        """Whether a request under way may continue; called by any thread."""
        return self._is_valid_for(END_MARGIN_S)

    def _is_valid_for(self, seconds: float) -> bool:
        return not self._has_slot or self._valid_until - self._monotonic() > seconds

    def renew(self, pipe: Redis) -> float | None:
        """Renew the slot, if there is one: a slice that has ended must not take it again. Returns when, in monotonic
        seconds, for `note_renewed`; None if there is no slot."""
        with self._lock:
            if not self._has_slot:
                return None
            asked_at = self._monotonic()
            self._limiter.renew_slot(self._host, self._holder, self._policy, self._now(), pipe)
        return asked_at

    def note_renewed(self, asked_at: float, answer: int) -> None:
        """What Redis answered to `renew`."""
        with self._lock:
            self._note_answer(asked_at, SlotResult(answer))

    def _take(self) -> SlotResult:
        asked_at = self._monotonic()
        entry = self._limiter.take_slot(self._host, self._holder, self._policy, self._now())
        self._note_answer(asked_at, entry)
        return entry

    def _note_answer(self, asked_at: float, entry: SlotResult) -> None:
        """Other slices have all of the host's slots: then this one is lost, unless a later call has got it again."""
        until = asked_at + self._limiter.slot_seconds
        if entry is not SlotResult.NONE_FREE:
            self._valid_until = max(self._valid_until, until)
        elif until > self._valid_until:
            self._valid_until = 0.0

    def end(self) -> None:
        """Release the slot, and report what was learned about the host."""
        with self._lock:
            if not self._has_slot:
                return
            self._has_slot = False
            self._limiter.release_slot(self._host, self._holder)
        self._report_responses()

    def take_grant(self) -> RateLimited | None:
        """None if a request may be sent now. With a delay, the caller must end the grant by `note_sent` or
        `end_grant`."""
        now = self._now()
        if self._delay <= 0 and now - self._checked_at < POLICY_RECHECK_S and self._is_valid_for(BEGIN_MARGIN_S):
            return None
        host_policy = replace(self._policy, throttled=False) if self._is_first_try else self._policy
        grant = self._limiter.request_grant(self._host, self._holder, host_policy, now)
        self._checked_at, self._delay, self._on_trial = now, grant.delay, grant.on_trial
        self.next_at = grant.next_at if grant.delay > 0 or not grant.granted else 0.0
        self._has_grant = grant.granted and grant.delay > 0
        self._is_first_try = self._is_first_try and not grant.granted
        if grant.granted and not (self._is_valid_for(BEGIN_MARGIN_S) or self._take_again()):
            self.end_grant()
            return RateLimited(self._now() + SLOT_RETRY_S)
        return None if grant.granted else RateLimited(grant.next_at)

    def _take_again(self) -> bool:
        """Take the slot once more, if one is free: it was not renewed for a while, or another slice has got it."""
        with self._lock:
            self._take()
        return self._is_valid_for(BEGIN_MARGIN_S)

    def wait_for_grant(self) -> bool:
        """Wait until a request may be sent, where the work cannot be resumed later, such as a redirected robots.txt.
        False if that is further off than any delay."""
        until = self._now() + host_rules.MAX_CRAWL_DELAY_S
        while (limited := self.take_grant()) is not None:
            if limited.at > until:
                return False
            if queues.stop_request.is_set():
                raise Aborted
            sleep(max(0.0, limited.at - self._now()))
        return True

    def note_sent(self) -> None:
        """A request was sent: the delay counts from now."""
        if self._delay > 0:
            now = self._now()
            self._limiter.note_sent(self._host, self._holder, now)
            self._has_grant, self.next_at = False, now + self._delay

    def end_grant(self) -> None:
        """Give up a grant that was not used, so that no other slice waits for it."""
        if self._has_grant:
            self.note_sent()

    def has_answered(self) -> bool:
        """Whether the host has responded within the last day."""
        return self._responses > 0 or self._host_states.read([self._host], self._now())[self._host].has_answered

    def note_crawl_delay(self, seconds: float) -> None:
        """What the host's robots.txt asks for."""
        self._host_states.note_crawl_delay(self._host, seconds)
        delay = host_rules.host_delay(self._chosen_delay, seconds)
        if delay > self._policy.delay:
            self._policy = replace(self._policy, delay=delay)
            self._delay, self._checked_at = delay, 0.0

    def record_result(self, result: PageResult, url: str) -> None:
        """Record the response to a page, or that there was none."""
        self.record_refusal(url, result.http_status, result.retry_after, is_repeat=result.attempt > 1)
        self.record_outcome(result.outcome, result.http_status, result.elapsed_ms / 1000)

    def record_refusal(
        self, url: str, status: int | None, retry_after: float | None, *, is_repeat: bool = False
    ) -> None:
        """Record a Retry-After, and decide whether it stops the whole host (`core.politeness.host_rules`)."""
        if status not in BUSY_STATUSES or not retry_after:
            return
        page, others_answered = key_of(url).hex()[:12], self._has_response_since_refusal
        self._has_response_since_refusal = False
        refusal = Refusal(page, status, retry_after, is_repeat=is_repeat, others_answered=others_answered)
        now = self._now()
        stop = self._limiter.note_refusal(self._host, refusal, now, conf.max_host_stop())
        self._on_trial, self._checked_at = stop.stops > 0, 0.0
        if stop.until > now:
            self.next_at = stop.until

    def record_outcome(self, outcome: Outcome, http_status: int | None, seconds: float) -> None:
        """Record the outcome of a request for the throttle."""
        if host_rules.is_trouble(outcome, http_status):
            self._report_responses()
            self._is_unthrottled = False
            self._delay = self._observe(host_rules.after_trouble, has_answered=http_status is not None).delay
            self._checked_at = 0.0
        elif http_status is not None:
            self._responses += 1
            self._has_response_since_refusal = True
            self._response_seconds += seconds
            if self._on_trial:
                self._limiter.clear_stop(self._host)
                self._on_trial = False
            if self._delay > self._policy.delay:  # slowed down: see at once whether that may end
                self._report_responses()
                self._checked_at = 0.0

    def _observe(
        self, follow: Callable[[Throttle], Throttle], *, has_answered: bool, seconds: float | None = None
    ) -> Throttle:
        return self._host_states.observe(
            self._host, follow, self._now(), crawl=self._policy.crawl, has_answered=has_answered, seconds=seconds
        )

    def _report_responses(self) -> None:
        answers, self._responses = self._responses, 0
        seconds, self._response_seconds = self._response_seconds, 0.0
        if not answers:
            return
        mean = seconds / answers
        if mean > host_rules.COMFORT_S or not self._is_unthrottled:
            known = self._observe(
                lambda known: host_rules.after_responses(known, mean, answers), has_answered=True, seconds=mean
            )
            self._is_unthrottled = known == Throttle()
