"""Waiting for a crawl to end, and for the first try of its notices."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType

from django.db import close_old_connections

from crawler import clock
from crawler.core.crawl.completion import State
from crawler.core.errors import ServiceDown
from crawler.management.base import NO_WORKER, NOT_ANSWERING, in_one_line
from crawler.manager.reconcile import reconcile
from crawler.models import Crawl, Delivery
from crawler.queueing.workers import live_workers
from crawler.reports.diagnosis import STILL_SECONDS, waits_because
from crawler.reports.diagnosis_facts import held_because

# Ctrl-C and SIGTERM, taken at a moment that suits: at once while nothing is at stake, gently while a crawl runs.

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether somebody asked this command to end. Gently: only noted, the first time; otherwise KeyboardInterrupt."""

    def __init__(self) -> None:
        self.signal: int | None = None  # the last one heard
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

    def heard(self, number: int, _frame: FrameType | None = None) -> None:
        again = self.signal is not None
        self.signal = number
        if again or not self.is_gentle:
            raise KeyboardInterrupt


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Listens to both signals, and restores what was before. Only the main thread may; elsewhere nothing is heard."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.heard) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


POLL = 0.15  # seconds between two looks at the database; fewer in the beginning
PATIENCE = 30.0  # seconds Redis or the database may be away before we give up
TOLD_EVERY = 1.0  # seconds between two looks at the reason for that
WORKERS_LOOK = 3.0  # seconds without progress before we look why
NOTICE_PATIENCE = 10.0  # seconds a notice has for its first try

PAUSED_ELSEWHERE = "The crawl was paused by somebody; waiting for it to go on."


class Waited(Enum):
    """Why waiting ended."""

    OVER = "the crawl is over"
    GONE = "the crawl was deleted"
    TIMED_OUT = "the time is up"
    STOPPED = "somebody asked us to stop"


class Waiting:
    """One wait for one crawl. `show` gets every new look at it; `note` gets lines a person should see, each once;
    `tell_why` gets the reason while no page closes, and "" once one does."""

    def __init__(
        self,
        show: Callable[[Crawl], None],
        note: Callable[[str], None],
        tell_why: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._show, self._note, self._tell_why = show, note, tell_why
        self._said: set[str] = set()
        self._closed = -1
        self._moved_at = self._looked_at = self._told_at = 0.0

    def until_over(self, crawl: Crawl, stop: Stop, timeout: float | None) -> Waited:
        """Look until the crawl is over, the time is up or somebody asks to stop; ServiceDown after PATIENCE seconds
        without an answer from Redis or the database."""
        began = answered_at = self._moved_at = self._looked_at = time.monotonic()
        while True:
            try:
                if self._look(crawl):
                    return Waited.OVER
                answered_at = time.monotonic()
            except Crawl.DoesNotExist:
                return Waited.GONE
            except NOT_ANSWERING as error:
                self._bear(error, time.monotonic() - answered_at)
            if stop.signal is not None:
                return Waited.STOPPED
            if timeout is not None and time.monotonic() - began >= timeout:
                return Waited.TIMED_OUT
            time.sleep(pause_after(time.monotonic() - began))

    def _look(self, crawl: Crawl) -> bool:
        """Whether the crawl is over; `crawl` is brought up to date."""
        crawl.refresh_from_db()
        self._show(crawl)
        if crawl.is_over:
            return True
        reconcile()
        if crawl.state == State.PAUSED:
            self._tell_why("")
            self._once(held_because(crawl, clock.epoch_seconds()) or PAUSED_ELSEWHERE)
        else:
            self._look_why(crawl)
        return False

    def _bear(self, error: Exception, silent: float) -> None:
        """Say once that a service is away, and give up when it has been for too long."""
        if silent > PATIENCE:
            raise ServiceDown(f"{in_one_line(error)} Gave up after {PATIENCE:.0f} s.") from error
        self._once(f"{in_one_line(error)} Trying again for {PATIENCE:.0f} s.")
        close_old_connections()  # a connection to a database that went away never heals

    def _look_why(self, crawl: Crawl) -> None:
        """Say what keeps a crawl that stands still from going on: no room, or nobody who works."""
        now, closed = time.monotonic(), crawl.tallies.closed
        if closed != self._closed:
            self._closed, self._moved_at, self._looked_at = closed, now, now
            self._tell_why("")
            return
        if now - self._looked_at >= WORKERS_LOOK:
            self._looked_at = now
            if why := held_because(crawl, clock.epoch_seconds()):
                self._once(why)
            elif live_workers() == 0:
                self._once(NO_WORKER)
        if now - self._moved_at >= STILL_SECONDS and now - self._told_at >= TOLD_EVERY:
            self._told_at = now
            self._tell_why(waits_because(crawl))

    def _once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._note(line)


def pause_after(waited: float) -> float:
    """Seconds until the next look, after so many of waiting: what is soon over is soon seen to be."""
    return min(POLL, 0.02 + waited / 20)


def until_tried(crawl: Crawl, stop: Stop) -> list[Delivery]:
    """Give every notice NOTICE_PATIENCE seconds for its first try; those that had none."""
    began = time.monotonic()
    while untried := _untried(crawl):
        if stop.signal is not None or time.monotonic() - began >= NOTICE_PATIENCE:
            break
        reconcile()
        time.sleep(pause_after(time.monotonic() - began))
    return untried


def _untried(crawl: Crawl) -> list[Delivery]:
    return list(Delivery.objects.filter(notice__crawl=crawl, state=Delivery.PENDING, attempts=0))
