"""The current request of a fetcher: its headers, its progress and its time limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from greenlet import getcurrent
from requests.structures import CaseInsensitiveDict

from crawler.core.access.credentials import Credentials, is_own, request_headers
from crawler.core.urls.normalise import origin_of
from crawler.http.cookies import Cookies
from crawler.http.encodings import ACCEPTED
from crawler.http.errors import FetchTimeout, RequestAborted
from crawler.http.event_loop import STALL_S, Task, sleep
from crawler.http.fetcher import Limits
from crawler.http.resettable import ResettableSocket

Clock = Callable[[], float]


def end_long_step() -> None:
    """Called before a request is timed: once the loop finds that a step of a task was long, its clock is again where it
    was when the step began, and what began late in it would have taken less than no time."""
    task = getcurrent()
    if isinstance(task, Task) and task.loop.now() - task.loop.step_began > STALL_S / 10:
        sleep(0)


class Exchange:
    """The state of the current request, shared by a fetcher and its connections."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self.url = ""  # normalised
        self.reused = True  # no new connection was opened for it
        self.sent = False  # at least partly written to a connection
        self.received = 0  # bytes
        self.certificate_error = ""  # why the server's certificate is not trusted
        self._clock = clock
        self._began = clock()
        self._total_seconds = limits.total_seconds
        self.on_sent: Callable[[], None] | None = None
        self.may_continue: Callable[[], bool] | None = None  # asked before each step
        self.records = False  # whether both heads are recorded
        self.is_aborted = False  # its connections were reset
        self._sockets: tuple[ResettableSocket, ...] = ()  # of the fetcher; some may be closed

    def begin(self, url: str, seconds: float | None = None) -> None:
        """`seconds`: the total time of this request if that is less than the limit."""
        self.url = url
        total = self.limits.total_seconds
        self._total_seconds = total if seconds is None else min(seconds, total)
        self._began = self._clock()
        self.is_aborted = False
        self.begin_try()

    def begin_try(self) -> None:
        self.reused = True
        self.sent = False
        self.received = 0
        self.certificate_error = ""

    def note_sent(self) -> None:
        """Note that the first bytes of this attempt were written to the socket, or that writing them failed."""
        if self.sent:
            return
        self.sent = True
        if self.on_sent is not None:
            self.on_sent()

    def note_opened(self, sock: ResettableSocket) -> None:
        """Note a socket before it connects."""
        self._sockets = (*(known for known in self._sockets if known.fileno() >= 0), sock)

    def abort(self) -> None:
        """End the request under way, and connections that are idle; called by any thread. What waits for a socket goes
        on at once, and each further step raises RequestAborted."""
        if self.is_aborted:
            return
        self.is_aborted = True  # first: a socket that is opened meanwhile is not used
        for sock in self._sockets:
            sock.reset()

    def check(self) -> None:
        """Raises RequestAborted if the request was aborted, or may not continue."""
        if self.is_aborted or (self.may_continue is not None and not self.may_continue()):
            raise RequestAborted

    def time_left(self, seconds: float) -> float:
        """The timeout of the next step: `seconds`, or the rest of the total time if that is less. Raises FetchTimeout
        and RequestAborted."""
        self.check()
        left = self._began + self._total_seconds - self._clock()
        if left <= 0:
            raise FetchTimeout(f"not complete after {self._total_seconds:g} seconds")
        return min(seconds, left)

    def time_until(self, ends: float) -> float:
        """The same for a step that has to end at this `elapsed_ms`. Raises TimeoutError, too, if that has passed."""
        left = (ends - self.elapsed_ms()) / 1000
        if left <= 0:
            raise TimeoutError
        return self.time_left(left)

    def elapsed_ms(self) -> int:
        return max(0, round((self._clock() - self._began) * 1000))


Headers = CaseInsensitiveDict[str]


class RequestHeaders:
    """The headers of each request: public ones for every server, and credentials for the crawl's own hosts. The
    dictionaries are shared; callers must not change them. `cookies` is the jar of a crawl that logs in; its cookies
    replace headers of the same name that the user gave."""

    def __init__(self, user_agent: str, credentials: Credentials, own_hosts: Sequence[str]) -> None:
        self.cookies: Cookies | None = None
        self._own_hosts = frozenset(own_hosts)
        usual = {"User-Agent": user_agent, "Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        needed = {"Accept-Encoding": ACCEPTED}
        self._public: Headers = CaseInsensitiveDict({**usual, **needed})
        self.public_names = frozenset(name.lower() for name in self._public)
        private = request_headers(credentials)
        self._private: Headers | None = CaseInsensitiveDict({**usual, **private, **needed}) if private else None
        self._trusted: dict[str, bool] = {}  # origin -> whether it is the crawl's own

    def headers(self, url: str, added: Mapping[str, str], *, anonymous: bool) -> Headers:
        """The headers for this normalised URL; `added` replaces others of the same name."""
        known = self._private if not anonymous and self._private is not None and self._trusts(url) else self._public
        kept = self.cookies.pairs(url) if self.cookies is not None and not anonymous else []
        if kept:
            names = {pair.partition("=")[0] for pair in kept}
            given = [pair for pair in known.get("Cookie", "").split("; ") if pair.partition("=")[0] not in names]
            return CaseInsensitiveDict({**known, **added, "Cookie": "; ".join(filter(None, [*given, *kept]))})
        return CaseInsensitiveDict({**known, **added}) if added else known

    def _trusts(self, url: str) -> bool:
        origin = origin_of(url)
        if origin not in self._trusted:
            self._trusted[origin] = is_own(url, self._own_hosts)
        return self._trusted[origin]
