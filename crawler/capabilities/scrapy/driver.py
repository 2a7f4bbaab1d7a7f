"""The processes of Scrapy that this process has: one for each crawl it works on, started at the first page and ended
when it has had none for some seconds, or with this process."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Hashable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from typing import IO, Any, cast

import msgspec

from crawler.capabilities.scrapy import messages
from crawler.core.errors import BadInput, CannotWork, MissingHere
from crawler.core.pages.outcomes import Outcome
from crawler.extras import SCRAPY
from crawler.http.errors import FetchError, RequestAborted
from crawler.http.event_loop import now, wait_for

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "crawler.capabilities.scrapy.inside")
START_S = 60.0  # for a machine that is busy
IDLE_S = 10.0  # without a page, after which the process is ended
END_S = 25.0  # that the process has to end by itself, once its pipe is closed: a little more than it takes
ENDED = "Scrapy crashed while it processed this page"


class ScrapyMissing(MissingHere):
    """Scrapy is not installed here. Users see `str(error)`."""


class ScrapyUnusable(CannotWork):
    """The process cannot run the spider: another attempt would not do better. Users see `str(error)`."""


class ScrapyEnded(FetchError):
    """The process ended, or did not answer, while it had the page. Another attempt may succeed."""

    outcome = Outcome.CRASHED


class ScrapyExited(ScrapyEnded):
    """The process ended by itself, as after a spider's CloseSpider. Another one takes a page it had not begun."""


def require() -> None:
    """Raises ScrapyMissing, with what to install, if it cannot run here."""
    if SCRAPY.missing:
        raise ScrapyMissing(SCRAPY.missing)


def check_spider(name: str) -> None:
    """Raises BadInput if this is no spider that can be imported here. It is imported in a process of its own."""
    checked = subprocess.run([*COMMAND, name], env=_environment(), capture_output=True, text=True, check=False)
    if checked.returncode:
        raise BadInput("spider", (checked.stderr.strip().splitlines() or [f"The spider {name} cannot be used."])[-1])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


class PageRun:
    """One page in the process. Its methods are called by the task that has the page."""

    def __init__(self, process: ScrapyProcess, page: int) -> None:
        self._process, self._page = process, page
        self._arrived: deque[messages.Request | messages.PageDone | BaseException] = deque()
        self._arrival: Future[None] = Future()
        self._lock = threading.Lock()
        self.has_begun = False  # the process has said something about it

    def next(self, seconds: float) -> messages.Request | messages.PageDone:
        """The next message of the process. Raises ScrapyEnded, ScrapyUnusable, and RequestAborted if the process was
        ended because of another page."""
        self._process.wait_until_ready()
        deadline = now() + seconds
        while True:
            with self._lock:
                arrival = self._arrival = Future()
                arrived = self._arrived.popleft() if self._arrived else None
            if isinstance(arrived, BaseException):
                raise arrived
            if arrived is not None:
                self.has_begun = True
                return arrived
            try:
                wait_for(arrival, deadline - now())
            except TimeoutError:
                self._process.kill(because_of=self._page)
                raise ScrapyEnded(f"the spider did not finish this page within {seconds:g} seconds") from None

    def answer(
        self, request: int, *, status: int = 0, headers: messages.Headers = (), body: bytes = b"", error: str = ""
    ) -> None:
        """The response to a request, or why there is none."""
        self._process.send(
            messages.Response(page=self._page, request=request, status=status, headers=headers, body=body, error=error)
        )

    def end(self) -> None:
        """Nothing is waited for any more."""
        self._process.leave(self._page)

    def put(self, arrived: messages.Request | messages.PageDone | BaseException) -> None:
        """Called in the thread that reads."""
        with self._lock:
            self._arrived.append(arrived)
            if not self._arrival.done():
                self._arrival.set_result(None)


class ScrapyProcess:
    """A process of Scrapy. Its methods may be called by any thread. Raises ScrapyMissing."""

    def __init__(self, begin: messages.Begin, idle_s: float = IDLE_S) -> None:
        require()
        self._process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,  # Ctrl-C ends the worker, which lets its pages finish
        )
        self._idle_s = idle_s
        self._visits: dict[int, PageRun] = {}
        self._numbers = count(1)
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._idle: threading.Timer | None = None
        self.is_gone = False  # it gets no further page
        self._ready: Future[None] = Future()  # done once its spider is open, or it has ended
        self._reader = threading.Thread(target=self._read, name="scrapy", daemon=True)
        self._reader.start()
        self.send(begin)

    @property
    def pid(self) -> int:
        return self._process.pid

    def visit(self, url: str, request: str = "") -> PageRun | None:
        """Begin a page; None if the process has ended or is about to."""
        with self._lock:
            if self.is_gone:
                return None
            if self._idle is not None:
                self._idle.cancel()
            page = next(self._numbers)
            visit = self._visits[page] = PageRun(self, page)
        self.send(messages.RunPage(page=page, url=url, request=request))
        return visit

    def wait_until_ready(self) -> None:
        """Until its spider is open; it imports Scrapy and the user's modules first."""
        with suppress(TimeoutError):  # the page's own time then runs
            if not self._ready.done():
                ready: Future[None] = Future()  # each task has one of its own
                self._ready.add_done_callback(lambda _: ready.set_result(None))
                wait_for(ready, START_S)

    def leave(self, page: int) -> None:
        with self._lock:
            self._visits.pop(page, None)
            if self.is_gone:
                return
            if not self._visits:
                self._idle = threading.Timer(self._idle_s, self._close_if_idle)
                self._idle.daemon = True
                self._idle.start()
        self.send(messages.Forget(page=page))

    def send(self, message: messages.ToProcess) -> None:
        with self._writing, suppress(OSError, ValueError):  # it has ended, which the reader tells
            stdin = cast(IO[bytes], self._process.stdin)
            stdin.write(messages.encoded(message))
            stdin.flush()

    def close(self) -> None:
        """Let it close its spider, and end."""
        with self._lock:
            self.is_gone = True
            if self._idle is not None:
                self._idle.cancel()
        with self._writing, suppress(OSError):
            cast(IO[bytes], self._process.stdin).close()

    def kill(self, *, because_of: int = 0) -> None:
        """End it at once. The other pages under way are handed back: they are not the cause."""
        self._end_visits(RequestAborted, besides=because_of)
        self._process.kill()

    def wait(self) -> None:
        """Until it has ended, after `close`."""
        self._reader.join(END_S)
        if self._reader.is_alive():
            self._process.kill()
            self._reader.join()

    def _close_if_idle(self) -> None:
        with self._lock:
            is_idle = not self._visits
        if is_idle:
            self.close()

    def _read(self) -> None:
        pipe: Any = self._process.stdout
        error: BaseException = ScrapyEnded(ENDED)
        try:
            while (message := messages.read_in_worker(pipe)) is not None:
                match message:
                    case messages.Request() | messages.PageDone():
                        with self._lock:
                            visit = self._visits.get(message.page)
                        if visit is not None:
                            visit.put(message)
                    case messages.Unusable():
                        error = ScrapyUnusable(message.why)
                    case messages.Closing():
                        self.is_gone, error = True, ScrapyExited(ENDED)
                    case messages.Ready():
                        self._ready.set_result(None)
        except (msgspec.DecodeError, OSError, ValueError) as trouble:
            log.warning("the Scrapy process sent an unreadable message: %s", trouble)
            self._process.kill()
        self._end_visits(lambda: error)
        if not self._ready.done():
            self._ready.set_result(None)
        self.close()
        pipe.close()
        self._process.wait()

    def _end_visits(self, error: Any, besides: int = 0) -> None:
        with self._lock:
            self.is_gone = True
            visits = [self._visits.pop(page) for page in tuple(self._visits) if page != besides]
        for visit in visits:
            visit.put(error())


_processes: dict[tuple[int, Hashable], ScrapyProcess] = {}
_sharing = threading.Lock()


def visit(key: Hashable, begin: messages.Begin, url: str, request: str = "") -> PageRun:
    """Begin a page in the process for this `key`, the crawl and what its requests depend on; another one is started if
    that has ended. Raises ScrapyMissing."""
    with _sharing:
        for known in [known for known, process in _processes.items() if process.is_gone]:
            del _processes[known]
        own = os.getpid(), key  # a forked process needs its own
        while True:
            if own not in _processes:
                _processes[own] = ScrapyProcess(begin)
            begun = _processes[own].visit(url, request)
            if begun is not None:
                return begun
            del _processes[own]


def close_all() -> None:
    """End every process of Scrapy that this one has started, and wait for them."""
    with _sharing:
        own = [_processes.pop(key) for key in tuple(_processes) if key[0] == os.getpid()]
    for process in own:
        process.close()
    for process in own:
        process.wait()
