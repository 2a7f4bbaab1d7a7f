"""A web site in a test: a dict of path to response, served on loopback by a thread, that remembers every request."""

import itertools
import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What the site answers."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0  # seconds to think first


Answer = str | Reply | Callable[[int], Reply]
"""HTML, a reply, or a function of how often the path was asked for before."""


def page(*links: str, title: str = "A page") -> str:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return f"<!doctype html><html><head><title>{title}</title></head><body>{anchors}</body></html>"


def moved(to: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": to})


@dataclass(frozen=True)
class Request:
    path: str
    at: float  # monotonic seconds
    headers: Mapping[str, str]
    body: bytes = b""
    port: int = 0  # of the client: each connection has another


class Server:
    """A web server on loopback, or on another address of this machine; what it answers is said by a subclass."""

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        self._server = _ThreadingServer(address, _handler_of(self))
        self.host = f"{address[0]}:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"

    def answer(self, request: Request) -> Reply:
        raise NotImplementedError

    @contextmanager
    def serving(self) -> Iterator[Self]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _ThreadingServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """That a client has gone, such as a worker that was killed, is not reported."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Site(Server):
    """Answers from `pages`; anything else is a 404. `posts` keeps what was sent to it."""

    def __init__(self, pages: Mapping[str, Answer]) -> None:
        self.pages = dict(pages)
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        super().__init__()

    @property
    def hits(self) -> Counter[str]:
        """How often each path was asked for."""
        with self._lock:
            return Counter(request.path for request in self.requests)

    def gaps(self) -> list[float]:
        """Seconds between one request and the next."""
        return [later - earlier for (earlier, _), (later, _) in itertools.pairwise(self._moments())]

    def out_of_turn(self, delay: float) -> list[str]:
        """The paths of requests that came too late, or before their time, if turns are this many seconds apart."""
        moments = self._moments()
        return [
            path
            for (_, path), late in zip(moments, lateness([at for at, _ in moments], delay), strict=True)
            if late > delay * 0.4
        ]

    def _moments(self) -> list[tuple[float, str]]:
        with self._lock:
            return sorted((request.at, request.path) for request in self.requests)

    def answer(self, request: Request) -> Reply:
        with self._lock:
            before = sum(1 for earlier in self.requests if earlier.path == request.path)
            self.requests.append(request)
        answer = self.pages.get(request.path, Reply("not here", status=404))
        if callable(answer):
            answer = answer(before)
        return Reply(answer) if isinstance(answer, str) else answer


def lateness(moments: Sequence[float], delay: float) -> list[float]:
    """How long each request must have been on its way, in seconds, if turns are a whole delay apart.

    One that was slow shortens the gap behind it, and is late by that alone. One that was sent too soon makes all late
    that came before it, since their turns were earlier still.
    """
    turn, late = math.inf, []
    for moment in reversed(moments):
        turn = min(moment, turn - delay)
        late.append(moment - turn)
    return late[::-1]


def _handler_of(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer leaves in one packet, or its second one waits for an acknowledgement

        def do_GET(self) -> None:
            self._reply()

        do_POST = do_GET  # noqa: N815

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            reply = server.answer(
                Request(self.path, time.monotonic(), dict(self.headers), body, self.client_address[1])
            )
            time.sleep(reply.after)
            content = reply.body.encode() if isinstance(reply.body, str) else reply.body
            self.send_response(reply.status)
            headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(content))}
            for name, value in (headers | dict(reply.headers)).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: a site remembers its requests."""

    return Handler
