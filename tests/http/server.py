"""A loopback server with scripted replies: a site is a dict of path to reply."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import TracebackType
from typing import BinaryIO, Self


class Then(Enum):
    """What the server does once a reply is sent."""

    KEEP = auto()  # waits for the next request
    CLOSE = auto()
    RESET = auto()
    STALL = auto()  # says nothing more and keeps the connection
    DRIP = auto()  # sends the reply's `drop` again and again


@dataclass(frozen=True)
class Reply:
    """One reply, byte for byte."""

    data: bytes = b""
    then: Then = Then.KEEP
    drop: bytes = b"x"


Site = Mapping[str, Reply | tuple[Reply, ...]]
"""Path to reply; of several replies each is given once, the last for ever."""


def page(body: bytes | str = "<p>hello", status: str = "200 OK", then: Then = Then.KEEP, **headers: str) -> Reply:
    """A reply with Content-Length; a header is given as content_type="text/html"."""
    raw = body.encode() if isinstance(body, str) else body
    given = {"content_type": "text/html", "content_length": str(len(raw)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items() if value)
    return Reply(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + raw, then)


def chunked(*chunks: bytes, then: Then = Then.KEEP, **headers: str) -> Reply:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    head = page(b"", "200 OK", Then.KEEP, content_length="", transfer_encoding="chunked", **headers).data
    return Reply(head + body, then)


class Listening:
    """Takes connections on loopback until the end of its `with` block, each served by a thread of its own."""

    def __init__(self) -> None:
        self.connections = 0
        self._over = threading.Event()
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for sock in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self._threads:
            thread.join()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a reset throws away what waits to be sent
            self._open.append(sock)
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        raise NotImplementedError


class Server(Listening):
    """Serves one site, and remembers who came and what they asked."""

    def __init__(self, site: Site, *, tls: ssl.SSLContext | None = None, greeting: bytes = b"") -> None:
        super().__init__()
        self.requests: list[str] = []  # request heads, in order of arrival
        self.bodies: list[bytes] = []
        self._site = site
        self._given: dict[str, int] = {}
        self._tls = tls
        self._greeting = greeting  # sent before anything is asked
        self.origin = f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [head.split(" ", 2)[1] for head in self.requests]

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._open.append(sock)
            sock.sendall(self._greeting)
            with sock, sock.makefile("rb") as incoming:
                while (path := self._read_request(incoming)) and self._answer(sock, self._reply_for(path)):
                    pass

    def _read_request(self, incoming: BinaryIO) -> str:
        lines = []
        while (line := incoming.readline()) not in (b"\r\n", b""):
            lines.append(line.decode("latin-1").strip())
        if not lines or lines[0].count(" ") != 2:  # nothing, or the beginning of TLS
            return ""
        length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length")), 0)
        self.bodies.append(incoming.read(length) or b"")
        self.requests.append("\n".join(lines))
        return lines[0].split(" ", 2)[1]

    def _reply_for(self, path: str) -> Reply:
        reply = self._site.get(path, page("not here", "404 Not Found"))
        if isinstance(reply, Reply):
            return reply
        turn = self._given.get(path, 0)
        self._given[path] = turn + 1
        return reply[min(turn, len(reply) - 1)]

    def _answer(self, sock: socket.socket, reply: Reply) -> bool:
        sock.sendall(reply.data)
        if reply.then is Then.DRIP:
            while not self._over.wait(0.02):
                sock.sendall(reply.drop)
        if reply.then is Then.STALL:
            self._over.wait()
        if reply.then is Then.RESET:
            _reset(sock)
        return reply.then is Then.KEEP


@contextlib.contextmanager
def hanging_up(then: Then) -> Iterator[int]:
    """The port of a server that lets its first visitor speak, and goes without a byte."""

    def go(sock: socket.socket, _: threading.Event) -> None:
        sock.recv(16384)
        if then is Then.RESET:
            _reset(sock)

    with _serving_one(go) as port:
        yield port


@contextlib.contextmanager
def dripping(beginning: bytes) -> Iterator[int]:
    """The port of a server that says this to its first visitor, and then a zero byte again and again."""

    def drip(sock: socket.socket, over: threading.Event) -> None:
        sock.sendall(beginning)
        while not over.wait(0.02):
            sock.sendall(b"\0")

    with _serving_one(drip) as port:
        yield port


@contextlib.contextmanager
def _serving_one(serve: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    over = threading.Event()

    def run() -> None:
        with contextlib.suppress(OSError):
            sock, _ = listener.accept()
            with sock:
                serve(sock, over)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # in case nobody came
            thread.join()


def _reset(sock: socket.socket) -> None:
    """Turn the close to come into a reset, by a linger of zero seconds."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
