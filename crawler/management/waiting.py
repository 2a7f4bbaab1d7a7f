"""Waits for the end of a crawl and for the first attempt of its notices; handles Ctrl-C and SIGTERM meanwhile."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType

from django.db import close_old_connections
from django.db.models import Q

from crawler import clock
from crawler.core.channels.catalogue import CHANNELS
from crawler.core.errors import ServiceDown
from crawler.core.protocol.completion import State
from crawler.core.protocol.holds import HoldReason
from crawler.crawls.reconcile import reconcile
from crawler.management.base import SERVICE_ERRORS, in_one_line, no_worker
from crawler.models import Crawl, Delivery
from crawler.queueing.end_signal import EndSignal
from crawler.queueing.workers import live_workers
from crawler.reports.diagnosis import STILL_SECONDS, waits_because
from crawler.reports.diagnosis_facts import HoldCause, held
from crawler.reports.host_load import load_of

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether this command received SIGINT or SIGTERM: raises KeyboardInterrupt, but within `gently` the first signal
    is only recorded."""

    def __init__(self) -> None:
        self.signal: int | None = None  # the last one received
        self.is_gentle = False

    @property
    def exit_code(self) -> int:
        return 128 + (self.signal or signal.SIGINT)

    @contextmanager
    def gently(self) -> Iterator[None]:
        self.is_gentle = True
        try:
            yield
        finally:
            self.is_gentle = False

    def receive(self, number: int, _frame: FrameType | None = None) -> None:
        again = self.signal is not None
        self.signal = number
        if again or not self.is_gentle:
            raise KeyboardInterrupt


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Handle both signals, and restore the previous handlers afterwards. Has no effect outside the main thread."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.receive) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


POLL_INTERVAL_S = 0.15  # between two queries
OUTAGE_TIMEOUT_S = 30.0  # of Redis or the database, before the command gives up
SHORTAGE_PATIENCE_S = 2.0  # a shortage may end the next moment
REASON_INTERVAL_S = 1.0  # between two queries of the reason of a stall
WORKER_CHECK_AFTER_S = 3.0  # seconds without progress
NOTICE_TIMEOUT_S = 10.0  # for the first attempt of a notice

PAUSED_ELSEWHERE = "The crawl was paused; waiting until it is resumed."


class WaitEnd(Enum):
    """Why waiting ended."""

    OVER = "the crawl is over"
    GONE = "the crawl was deleted"
    HELD = "a user must act before it continues"
    TIMED_OUT = "the time is over"
    STOPPED = "a signal was received"


class CrawlWait:
    """Waits for one crawl. `show` gets each new state; `note` gets messages for the user, each once; `show_reason` gets
    the reason while no page closes, and "" once one does."""

    def __init__(
        self,
        show: Callable[[Crawl], None],
        note: Callable[[str], None],
        show_reason: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._show, self._note, self._show_reason = show, note, show_reason
        self.held = ""  # why a person has to act
        self._noted: set[str] = set()
        self._short_since: float | None = None
        self._closed = -1
        self._moved_at = self._looked_at = self._reason_at = 0.0

    def until_over(self, crawl: Crawl, stop: Stop, timeout: float | None) -> WaitEnd:
        """Poll until the crawl is over or waits for a person, the timeout has passed or a signal is received.
        ServiceDown if Redis or the database does not answer for OUTAGE_TIMEOUT_S."""
        began = answered_at = self._moved_at = self._looked_at = time.monotonic()
        with EndSignal(str(crawl.id)) as signal:
            while True:
                try:
                    if (ended := self._look(crawl)) is not None:
                        return ended
                    answered_at = time.monotonic()
                except Crawl.DoesNotExist:
                    return WaitEnd.GONE
                except SERVICE_ERRORS as error:
                    self._tolerate(error, time.monotonic() - answered_at)
                if stop.signal is not None:
                    return WaitEnd.STOPPED
                if timeout is not None and time.monotonic() - began >= timeout:
                    return WaitEnd.TIMED_OUT
                signal.wait(POLL_INTERVAL_S)

    def _look(self, crawl: Crawl) -> WaitEnd | None:
        """Refresh `crawl`; return why the wait is over, None = it is not."""
        crawl.refresh_from_db()
        self._show(crawl)
        if crawl.is_over:
            return WaitEnd.OVER
        reconcile()
        if crawl.state != State.PAUSED:
            return self._explain_stall(crawl)
        self._show_reason("")
        hold = held(crawl, clock.epoch_seconds())
        if ended := self._judge(hold):
            return ended
        self._once(hold.why or PAUSED_ELSEWHERE)
        return None

    def _judge(self, hold: HoldCause) -> WaitEnd | None:
        """HELD if only a person can end this hold; a shortage has to last for a while first."""
        now = time.monotonic()
        if not hold.needs_person:
            self._short_since = None
            return None
        if hold.reason is HoldReason.CAPACITY:
            self._short_since = self._short_since or now
            if now - self._short_since < SHORTAGE_PATIENCE_S:
                return None
        self.held = hold.why
        return WaitEnd.HELD

    def _tolerate(self, error: Exception, silent: float) -> None:
        """Note once that a service does not answer, and give up after OUTAGE_TIMEOUT_S."""
        if silent > OUTAGE_TIMEOUT_S:
            raise ServiceDown(f"{in_one_line(error)} Gave up after {OUTAGE_TIMEOUT_S:.0f} s.") from error
        self._once(f"{in_one_line(error)} Trying again for {OUTAGE_TIMEOUT_S:.0f} s.")
        close_old_connections()  # a broken database connection never recovers

    def _explain_stall(self, crawl: Crawl) -> WaitEnd | None:
        """Note why a crawl makes no progress: no space, or no worker. HELD if there is none for too long."""
        now, closed = time.monotonic(), crawl.tallies.closed
        if closed != self._closed:
            self._closed, self._moved_at, self._looked_at = closed, now, now
            self._short_since = None
            if now - self._reason_at >= REASON_INTERVAL_S:
                self._reason_at = now
                self._show_reason(load_of(crawl))
            return None
        if now - self._looked_at >= WORKER_CHECK_AFTER_S or self._short_since is not None:
            self._looked_at = now
            hold = held(crawl, clock.epoch_seconds())
            if ended := self._judge(hold):
                return ended
            if hold.why:
                self._once(hold.why)
            elif live_workers() == 0:
                self._once(no_worker())
        if now - self._moved_at >= STILL_SECONDS and now - self._reason_at >= REASON_INTERVAL_S:
            self._reason_at = now
            self._show_reason(waits_because(crawl))
        return None

    def _once(self, line: str) -> None:
        if line not in self._noted:
            self._noted.add(line)
            self._note(line)


def pause_after(waited: float) -> float:
    """Seconds until the next query of notices: short at the beginning, because the first attempt takes little time."""
    return min(POLL_INTERVAL_S, 0.02 + waited / 20)


def wait_for_notices(crawl: Crawl, stop: Stop) -> list[Delivery]:
    """Wait at most NOTICE_TIMEOUT_S for the first attempt of every notice, and for what capabilities do as long as they
    go on; return the rest."""
    began, known = time.monotonic(), list[int]()
    while pending := _awaited(crawl):
        places = [delivery.place for delivery in pending if delivery.transport not in CHANNELS]
        if places != known:
            began, known = time.monotonic(), places
        if stop.signal is not None or time.monotonic() - began >= NOTICE_TIMEOUT_S:
            break
        reconcile()
        time.sleep(pause_after(time.monotonic() - began))
    return pending


def _awaited(crawl: Crawl) -> list[Delivery]:
    pending = Delivery.objects.filter(notice__crawl=crawl, state=Delivery.PENDING)
    return list(pending.filter(Q(attempts=0) | ~Q(transport__in=CHANNELS)).order_by("created_at", "id"))
