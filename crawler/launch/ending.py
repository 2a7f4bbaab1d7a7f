"""Whether somebody asked this command to end: Ctrl-C, SIGTERM, or the terminal that was closed."""

from __future__ import annotations

import signal
import time


class Ending:
    """Listens from the moment it is made. The second signal does not wait for anybody: it ends the process, and the
    guardian ends the rest."""

    def __init__(self) -> None:
        self._signal: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._heard)

    @property
    def asked(self) -> bool:
        return self._signal is not None

    @property
    def exit_code(self) -> int:
        return 128 + self._signal if self._signal else 0

    def wait(self, seconds: float) -> bool:
        """At most so long; whether it was asked."""
        deadline = time.monotonic() + seconds
        while not self.asked and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))  # a signal does not end a sleep, so that it must be short
        return self.asked

    def _heard(self, number: int, _frame: object) -> None:
        if self.asked:
            raise SystemExit(128 + number)
        self._signal = number
