"""Waits for one slice's turn at its host: a connection, and the moment its delay allows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from crawler.core import politeness
from crawler.frontier.clock import Clock
from crawler.frontier.gate import Gate


class Turns:
    """One slice's standing at one host. `next_at` is when the host may be asked again, for the manager to know."""

    def __init__(
        self,
        gate: Gate,
        host: str,
        holder: str,
        concurrency: int,
        delay: float,
        now: Clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._gate, self._host, self._holder = gate, host, holder
        self._concurrency, self._now, self._sleep = concurrency, now, sleep
        self._chosen = delay
        self.delay = politeness.host_delay(delay, gate.crawl_delay(host))
        self.next_at = 0.0
        self._inside = False
        self._lock = threading.Lock()  # the heartbeat renews from a thread of its own

    def begin(self) -> bool:
        """Take one of the host's connections; False when other crawls or slices use them all."""
        with self._lock:
            self._inside = self._enter()
        if not self._inside:
            self.next_at = self._now() + 1.0
        return self._inside

    def renew(self) -> None:
        """Keep the connection, if there is one: a slice that has ended must not take it again."""
        with self._lock:
            if self._inside:
                self._enter()

    def end(self) -> None:
        with self._lock:
            self._inside = False
            self._gate.leave(self._host, self._holder)

    def _enter(self) -> bool:
        return self._gate.enter(self._host, self._holder, self._concurrency, self._now())

    def note_crawl_delay(self, seconds: float) -> None:
        self._gate.note_crawl_delay(self._host, seconds)
        self.delay = politeness.host_delay(self._chosen, seconds)

    def wait(self) -> bool:
        """Wait for a turn; False when it is too far off to hold a worker for."""
        if self.delay <= 0:
            return True
        give_up_at = self._now() + politeness.PATIENCE
        while True:
            now = self._now()
            turn = self._gate.turn(self._host, self.delay, now)
            self.next_at = turn.next_at
            if turn.granted:
                return True
            if turn.next_at > give_up_at:
                return False
            self._sleep(turn.next_at - now)
