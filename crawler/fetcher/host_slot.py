"""A slice's client of the host limiter: its slot, its grants, and what its responses say about the host."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from crawler import conf
from crawler.clock import Clock
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness import host_rules
from crawler.core.politeness.host_rules import BUSY_STATUSES, EARLY_REPORT_S, SLOW_RESPONSE_S, Refusal, report_interval
from crawler.core.protocol.messages import PageResult
from crawler.core.urls.normalise import key_of
from crawler.fetcher.connection_slot import END_MARGIN_S, ConnectionSlot
from crawler.frontier.host_limiter import POLICY_RECHECK_S, HostLimiter, HostPolicy, SlotResult
from crawler.frontier.host_state import HostStates
from crawler.frontier.host_throttle import HostThrottles, ResponseTimes
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import sleep
from crawler.queueing import queues

BEGIN_MARGIN_S = 2.5  # a request is begun only while the slot is valid for longer than this, else it is taken again
SLOT_RETRY_S = 0.25  # between two attempts to get a lost slot again


class RateLimited(msgspec.Struct, frozen=True):
    """Rate-limited until `at` (epoch seconds)."""

    at: float


class SharedGrants:
    """Grants that count for all slots of a worker, since each of them would get the same: those of a host without a
    delay, not on trial, with no more slots in use than the throttle allows. Like the check of one slot they count for
    POLICY_RECHECK_S."""

    def __init__(self) -> None:
        self._at: dict[str, tuple[HostPolicy, float]] = {}  # of a host

    def note(self, host: str, policy: HostPolicy, at: float) -> None:
        self._at[host] = policy, at

    def covers(self, host: str, policy: HostPolicy, now: float) -> bool:
        known, at = self._at.get(host, (None, 0.0))
        return known == policy and 0 <= now - at < POLICY_RECHECK_S

    def drop(self, host: str) -> None:
        self._at.pop(host, None)


class ResponseReport:
    """What responses say about a host; told to the throttle about every second, since that costs a call of Redis."""

    def __init__(self, throttles: HostThrottles, host: str, policy: HostPolicy, now: Clock) -> None:
        self._throttles, self._host, self._now = throttles, host, now
        self._crawl, self._connections = policy.crawl, policy.connections
        self.times = ResponseTimes()  # not reported yet
        self._sent_at = now()
        self._wait_s: float | None = None  # until the first report

    def add(self, seconds: float) -> None:
        now = self._now()
        self.times.add(seconds, now)
        wait_s = self._wait_s
        if wait_s is None:
            wait_s = 0.0 if seconds >= SLOW_RESPONSE_S else EARLY_REPORT_S
        if now - self._sent_at >= wait_s:
            self.send()

    def note_failure(self, seconds: float, status: int | None) -> float:
        """The throttle's delay after it."""
        self.send()
        throttle = self._throttles.note_failure(
            self._host,
            seconds=seconds,
            connections=self._connections,
            status=status,
            now=self._now(),
            crawl=self._crawl,
        )
        return throttle.delay

    def send(self) -> float | None:
        """The throttle's delay after it; None = there was nothing to report."""
        times, self.times, self._sent_at = self.times, ResponseTimes(), self._now()
        if not times.window.responses:
            return None
        known = self._throttles.note_responses(self._host, times, self._sent_at, self._crawl, self._connections)
        self._wait_s = report_interval(known, self._connections)
        return known.delay


class HostSlot:
    """A slice's connection slot, the grants of its requests, and what their responses say about the host.

    `next_at` tells the manager when the host may be asked again (epoch seconds). Only `wait_for_grant` waits.
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
        grants: SharedGrants,
    ) -> None:
        self._limiter, self._host, self._now, self._grants = limiter, host, now, grants
        self._slot = ConnectionSlot(limiter, host, holder, policy, now, monotonic)
        self._report = ResponseReport(host_states.throttles, host, policy, now)
        self._host_states = host_states
        self._chosen_delay = self._delay = policy.delay
        self.next_at = 0.0
        self._checked_at = 0.0  # when the limiter was last asked
        self._has_grant = False  # granted, and no request sent yet
        self._has_response_since_refusal = False  # whether there was a response since the last refusal
        self._on_trial = False  # the host was stopped: the next response ends that
        self._is_first_try = False  # of this crawl at a throttled host: its delay does not count
        self.renew, self.note_renewed = self._slot.renew, self._slot.note_renewed

    def begin(self, holder: str | None = None) -> bool:
        """Take one of the host's slots, or continue with that of this `holder`; False when all are in use by other
        crawls or slices."""
        entry = self._slot.begin(holder)
        self._is_first_try = entry is SlotResult.FIRST_TIME
        return entry is not SlotResult.NONE_FREE

    @property
    def is_held(self) -> bool:
        return self._slot.is_held

    def detach(self) -> tuple[HostLimiter, str] | None:
        """End without releasing the slot: its limiter and holder, for the slice that reuses the connection. None for a
        host with a delay: keeping its slot would only block others."""
        held = None if self._delay > 0 else self._slot.detach()
        if held is not None:
            self._report.send()
        return held

    def is_wanted(self) -> bool:
        """Whether a slice waits for a slot of the host."""
        return self._limiter.is_wanted(self._host, self._now())

    def is_valid(self) -> bool:
        """Whether a request under way may continue; called by any thread."""
        return self._slot.is_valid_for(END_MARGIN_S)

    def end(self) -> None:
        """Report what was learned about the host, while the slot counts as one in use, and release it."""
        try:
            if self._slot.is_held:
                self._report.send()
        finally:
            self._slot.release()

    def take_grant(self) -> RateLimited | None:
        """None if a request may be sent now. With a delay, the caller must end the grant by `note_sent` or
        `end_grant`."""
        now = self._now()
        if self._delay <= 0 and self._is_checked(now) and self._may_begin():
            return None
        host_policy = replace(self._slot.policy, throttled=False) if self._is_first_try else self._slot.policy
        grant = self._limiter.request_grant(self._host, self._slot.holder, host_policy, now)
        self._checked_at, self._delay, self._on_trial = now, grant.delay, grant.on_trial
        if grant.is_for_all and not self._is_first_try:
            self._grants.note(self._host, host_policy, now)
        self.next_at = grant.next_at if grant.delay > 0 or not grant.granted else 0.0
        self._has_grant = grant.granted and grant.delay > 0
        self._is_first_try = self._is_first_try and not grant.granted
        if grant.granted and not self._may_begin():
            self._slot.take_again()
        if grant.granted and not self._may_begin():
            self.end_grant()
            return RateLimited(self._now() + SLOT_RETRY_S)
        return None if grant.granted else RateLimited(grant.next_at)

    def _is_checked(self, now: float) -> bool:
        """Whether a moment ago a request needed no wait."""
        if now - self._checked_at < POLICY_RECHECK_S:
            return True
        return not self._is_first_try and self._grants.covers(self._host, self._slot.policy, now)

    def _check_again(self) -> None:
        """Ask the limiter before the next request."""
        self._checked_at = 0.0
        self._grants.drop(self._host)

    def _may_begin(self) -> bool:
        return self._slot.is_valid_for(BEGIN_MARGIN_S)

    def wait_for_grant(self) -> bool:
        """Wait until a request may be sent, where the work cannot be resumed later, such as a redirected robots.txt.
        False if that is further off than any delay."""
        until = self._now() + host_rules.MAX_CRAWL_DELAY_S
        while (limited := self.take_grant()) is not None:
            if limited.at > until:
                return False
            if queues.stop_request.is_set():
                raise RequestAborted
            sleep(max(0.0, limited.at - self._now()))
        return True

    def note_sent(self) -> None:
        """A request was sent: the delay counts from now."""
        if self._delay > 0:
            now = self._now()
            self._limiter.note_sent(self._host, self._slot.holder, now)
            self._has_grant, self.next_at = False, now + self._delay

    def end_grant(self) -> None:
        """Give up a grant that was not used, so that no other slice waits for it."""
        if self._has_grant:
            self.note_sent()

    def has_answered(self) -> bool:
        """Whether the host has responded within the last day."""
        known = self._host_states.read([self._host], self._now())[self._host]
        return self._report.times.window.responses > 0 or known.has_answered

    def note_crawl_delay(self, seconds: float) -> None:
        """What the host's robots.txt asks for."""
        self._host_states.note_crawl_delay(self._host, seconds)
        delay = host_rules.host_delay(self._chosen_delay, seconds)
        if delay > self._slot.policy.delay:
            self._slot.policy = replace(self._slot.policy, delay=delay)
            self._delay = delay
            self._check_again()

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
        self._on_trial = stop.stops > 0
        self._check_again()
        if stop.until > now:
            self.next_at = stop.until

    def record_outcome(
        self, outcome: Outcome, http_status: int | None, seconds: float, *, is_page: bool = True
    ) -> None:
        """Record the outcome of a request for the throttle. The response time of a robots.txt says nothing of pages."""
        if host_rules.is_failure(outcome, http_status):
            if http_status is not None:
                self._host_states.note_response(self._host)
            self._delay = self._report.note_failure(seconds, http_status)
            self._check_again()
        elif http_status is not None:
            if is_page:
                self._report.add(seconds)
            else:
                self._host_states.note_response(self._host)
            self._has_response_since_refusal = True
            if self._on_trial:
                self._limiter.clear_stop(self._host)
                self._on_trial = False
            if self._delay > self._slot.policy.delay:  # slowed down: see at once whether that may end
                self._shorten_wait(self._report.send())
                self._check_again()

    def _shorten_wait(self, delay: float | None) -> None:
        """The host has responded: its next page need not wait for the delay that ends with this."""
        if delay is not None and delay < self._delay:
            self.next_at = min(self.next_at, self._now() + max(self._slot.policy.delay, delay))
