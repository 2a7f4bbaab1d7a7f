"""One slice's standing at its host: its connection, its turns, and what its answers say of the host."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from redis import Redis

from crawler import conf
from crawler.clock import Clock
from crawler.core.crawl import politeness
from crawler.core.crawl.messages import PageResult
from crawler.core.crawl.outcomes import Outcome
from crawler.core.crawl.politeness import BUSY_STATUSES, Refusal, Throttle
from crawler.core.urls.normalise import key_of
from crawler.frontier.host_limiter import HEARD_WITHIN, Entry, Gate, Wish
from crawler.frontier.host_state import HostBook
from crawler.http.errors import Aborted
from crawler.queueing import queues


@dataclass(frozen=True)
class NotYet:
    """It is not this slice's turn before `at`, in epoch seconds."""

    at: float


class Turns:
    """`next_at` is when the host may be asked again, for the manager to know. Nothing here waits."""

    def __init__(self, gate: Gate, book: HostBook, host: str, holder: str, wish: Wish, now: Clock) -> None:
        self._gate, self._book, self._host = gate, book, host
        self._own = self._holder = holder
        self._wish, self._chosen, self._now = wish, wish.delay, now
        self.next_at = 0.0
        self._delay = wish.delay
        self._heard_at = 0.0  # when the gate was last asked
        self._has_turn = False  # granted and not sent yet
        self._answers, self._seconds = 0, 0.0  # not told the throttle yet
        self._answered_since = False  # the last refusal
        self._on_trial = False  # the host was stopped: the next response ends that
        self._is_first_try = False  # of this crawl at a throttled host: its delay does not count
        self._is_at_ease = False  # the throttle is known to do nothing
        self._inside = False
        self._lock = threading.Lock()  # the heartbeat renews from a thread of its own

    def begin(self, holder: str | None = None) -> bool:
        """Take one of the host's connections, or go on with that of this `holder`; False when other crawls or slices
        use them all."""
        with self._lock:
            self._holder = holder or self._own
            entry = self._gate.enter(self._host, self._holder, self._wish, self._now())
            self._inside = entry is not Entry.NONE_FREE
            self._is_first_try = entry is Entry.FIRST_TIME
        return self._inside

    def hand_over(self) -> tuple[Gate, str] | None:
        """End without giving the connection back: its gate and holder, for whoever goes on with it. None where it
        should not be kept: a host that is asked seldom would only be held up by it."""
        with self._lock:
            if not self._inside or self._delay > 0:
                return None
            self._inside = False
        self._tell_answers()
        return self._gate, self._holder

    def renew(self, pipe: Redis) -> None:
        """Keep the connection, if there is one: a slice that has ended must not take it again."""
        with self._lock:
            if self._inside:
                self._gate.renew(self._host, self._holder, self._wish, self._now(), pipe)

    def end(self) -> None:
        """Give the connection back, and tell what is known of the host by now."""
        with self._lock:
            if not self._inside:
                return
            self._inside = False
            self._gate.leave(self._host, self._holder)
        self._tell_answers()

    def take(self) -> NotYet | None:
        """Take a turn now, if it is this slice's: None. With a delay, what is asked for then must end in `sent`."""
        now = self._now()
        if self._delay <= 0 and now - self._heard_at < HEARD_WITHIN:
            return None
        wish = replace(self._wish, throttled=False) if self._is_first_try else self._wish
        turn = self._gate.turn(self._host, self._holder, wish, now)
        self._heard_at, self._delay, self._on_trial = now, turn.delay, turn.on_trial
        self.next_at = turn.next_at if turn.delay > 0 or not turn.granted else 0.0
        self._has_turn = turn.granted and turn.delay > 0
        self._is_first_try = self._is_first_try and not turn.granted
        return None if turn.granted else NotYet(turn.next_at)

    def wait(self) -> bool:
        """Take a turn, waiting for it: for what cannot be begun and then left, such as a redirected robots.txt. False
        when it is further off than any delay."""
        until = self._now() + politeness.LONGEST_DELAY
        while (not_yet := self.take()) is not None:
            if not_yet.at > until:
                return False
            if queues.ends_soon.wait(max(0.0, not_yet.at - self._now())):
                raise Aborted
        return True

    def sent(self) -> None:
        """A request was sent: the delay counts from this moment."""
        if self._delay > 0:
            now = self._now()
            self._gate.sent(self._host, self._holder, now)
            self._has_turn, self.next_at = False, now + self._delay

    def settle(self) -> None:
        """The turn is over; should it have come to nothing, nobody needs to wait for it."""
        if self._has_turn:
            self.sent()

    def has_answered(self) -> bool:
        """Whether the host ever did, within a day."""
        return self._answers > 0 or self._book.read([self._host], self._now())[self._host].has_answered

    def note_crawl_delay(self, seconds: float) -> None:
        """What the host's robots.txt asks for."""
        self._book.note_crawl_delay(self._host, seconds)
        delay = politeness.host_delay(self._chosen, seconds)
        if delay > self._wish.delay:
            self._wish = replace(self._wish, delay=delay)
            self._delay, self._heard_at = delay, 0.0

    def answered(self, result: PageResult, url: str) -> None:
        """What the server said, or that it said nothing, of a page that was asked for."""
        self.refused(url, result.http_status, result.retry_after, is_repeat=result.attempt > 1)
        self.fared(result.outcome, result.http_status, result.elapsed_ms / 1000)

    def refused(self, url: str, status: int | None, retry_after: float | None, *, is_repeat: bool = False) -> None:
        """The server may have asked to wait: see whether that holds for the whole host (`core.crawl.politeness`)."""
        if status not in BUSY_STATUSES or not retry_after:
            return
        page, others_answered, self._answered_since = key_of(url).hex()[:12], self._answered_since, False
        refusal = Refusal(page, status, retry_after, is_repeat=is_repeat, others_answered=others_answered)
        now = self._now()
        stop = self._gate.refuse(self._host, refusal, now, conf.max_host_stop())
        self._on_trial, self._heard_at = stop.stops > 0, 0.0
        if stop.until > now:
            self.next_at = stop.until

    def fared(self, outcome: Outcome, http_status: int | None, seconds: float) -> None:
        """How a request fared."""
        if politeness.is_trouble(outcome, http_status):
            self._tell_answers()
            self._is_at_ease = False
            self._delay = self._observe(politeness.after_trouble, has_answered=http_status is not None).delay
            self._heard_at = 0.0
        elif http_status is not None:
            self._answers += 1
            self._answered_since = True
            self._seconds += seconds
            if self._on_trial:
                self._gate.resume(self._host)
                self._on_trial = False
            if self._delay > self._wish.delay:  # slowed down: see at once whether that may end
                self._tell_answers()
                self._heard_at = 0.0

    def _observe(
        self, follow: Callable[[Throttle], Throttle], *, has_answered: bool, seconds: float | None = None
    ) -> Throttle:
        return self._book.observe(
            self._host, follow, self._now(), crawl=self._wish.crawl, has_answered=has_answered, seconds=seconds
        )

    def _tell_answers(self) -> None:
        answers, self._answers = self._answers, 0
        seconds, self._seconds = self._seconds, 0.0
        if not answers:
            return
        mean = seconds / answers
        if mean > politeness.COMFORT_S or not self._is_at_ease:
            known = self._observe(
                lambda known: politeness.after_responses(known, mean, answers), has_answered=True, seconds=mean
            )
            self._is_at_ease = known == Throttle()
