"""The one request a fetcher is busy with: what it asks for, what has happened so far, how long it may still take."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from requests.structures import CaseInsensitiveDict

from crawler.core.access.credentials import Credentials, is_own, request_headers
from crawler.core.urls.normalise import origin_of
from crawler.http.encodings import ACCEPTED
from crawler.http.errors import Aborted, OutOfTime
from crawler.http.fetcher import Limits

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
        self._socket: socket.socket | None = None  # what it waits for
        self._is_aborted = False

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

    def uses(self, sock: socket.socket) -> None:
        """It will wait for this socket next."""
        self._socket = sock

    def abort(self) -> None:
        """From another thread: the request under way, and any later one, ends with `Aborted`. What waits for the socket
        wakes up."""
        self._is_aborted = True  # before the socket is looked for: it may be opened at this moment
        sock = self._socket
        if sock is not None:
            with suppress(OSError):  # not connected yet, or closed by now
                sock.shutdown(socket.SHUT_RDWR)

    def check_aborted(self) -> None:
        """To be called before anything is made of a socket's end or error: it may be our own doing."""
        if self._is_aborted:
            raise Aborted

    def patience(self, seconds: float) -> float:
        """How long to wait for the next step: `seconds`, or what is left of the whole if that is less."""
        self.check_aborted()
        left = self._began + self.limits.total_seconds - self._clock()
        if left <= 0:
            raise OutOfTime(f"not complete after {self.limits.total_seconds:g} seconds")
        return min(seconds, left)

    def elapsed_ms(self) -> int:
        return round((self._clock() - self._began) * 1000)


# The headers each request goes out with: what every server is told, and the credentials for the crawl's own hosts.

Headers = CaseInsensitiveDict[str]


class Outgoing:
    """Of the dictionaries handed out none may be changed."""

    def __init__(self, user_agent: str, credentials: Credentials, own_hosts: Sequence[str]) -> None:
        self._own_hosts = frozenset(own_hosts)
        usual = {"User-Agent": user_agent, "Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        needed = {"Accept-Encoding": ACCEPTED}
        self._public: Headers = CaseInsensitiveDict({**usual, **needed})
        self.public_names = frozenset(name.lower() for name in self._public)
        private = request_headers(credentials)
        self._private: Headers | None = CaseInsensitiveDict({**usual, **private, **needed}) if private else None
        self._trusted: dict[str, bool] = {}  # origin -> whether it is the crawl's own

    def headers(self, url: str, added: Mapping[str, str], *, anonymous: bool) -> Headers:
        """Those for a request to this normalised URL; `added` in place of others of the same name."""
        known = self._private if not anonymous and self._private is not None and self._trusts(url) else self._public
        return CaseInsensitiveDict({**known, **added}) if added else known

    def _trusts(self, url: str) -> bool:
        origin = origin_of(url)
        if origin not in self._trusted:
            self._trusted[origin] = is_own(url, self._own_hosts)
        return self._trusted[origin]
