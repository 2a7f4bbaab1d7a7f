"""Ctrl-C and SIGTERM, taken at a moment that suits: at once while nothing is at stake, gently while a crawl runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
