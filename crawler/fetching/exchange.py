"""The one request a fetcher is busy with: what it asks for, what has happened so far, how long it may still take."""

from __future__ import annotations

from collections.abc import Callable

from crawler.fetching.fetcher import Limits
from crawler.fetching.trouble import OutOfTime

Clock = Callable[[], float]


class Exchange:
    """Shared by a fetcher and its connections, one request after the other."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self.url = ""  # normalised
        self.reused = True  # no new connection was tried for it
        self.sent = False  # a connection took at least some of it
        self.received = 0  # bytes that arrived
        self._clock = clock
        self._began = clock()
        self.on_sent: Callable[[], None] | None = None
        self.records = False  # both heads are to be kept as they went over the wire

    def begin(self, url: str) -> None:
        self.url = url
        self._began = self._clock()
        self.begin_try()

    def begin_try(self) -> None:
        self.reused = True
        self.sent = False
        self.received = 0

    def note_sent(self) -> None:
        """The first bytes of this try have been handed to the socket, or it broke while taking them."""
        if self.sent:
            return
        self.sent = True
        if self.on_sent is not None:
            self.on_sent()

    def patience(self, seconds: float) -> float:
        """How long to wait for the next step: `seconds`, or what is left of the whole if that is less."""
        left = self._began + self.limits.total_seconds - self._clock()
        if left <= 0:
            raise OutOfTime(f"not complete after {self.limits.total_seconds:g} seconds")
        return min(seconds, left)

    def elapsed_ms(self) -> int:
        return round((self._clock() - self._began) * 1000)
