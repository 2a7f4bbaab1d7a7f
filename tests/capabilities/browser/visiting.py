"""A client of the proxy, in the place of a browser, and a server that must get no connection."""

import base64
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from crawler.capabilities.browser.proxy import Admission, GuardProxy, ProxyLimits
from crawler.http.guard import Guard
from tests.http.secure import on_loopback

SITE = Guard(("site.test",), resolver=on_loopback)
"""Every name leads to loopback, and only one may."""

LIMITS = ProxyLimits(max_bytes=50_000_000, max_connections=32, connect_seconds=5, idle_seconds=10)
PATIENCE = 10.0  # seconds; what comes, comes sooner


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def request(line: str, admission: Admission, *fields: str) -> bytes:
    known = f"Proxy-Authorization: {basic(admission.username, admission.password)}"
    return "".join(f"{text}\r\n" for text in (f"{line} HTTP/1.1", known, *fields, "")).encode()


def read_all(sock: socket.socket) -> bytes:
    """Until the other side hangs up."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := sock.recv(65536):
            data += piece
    return data


def ask(proxy: GuardProxy, data: bytes) -> bytes:
    """The whole answer to these bytes, without a word more."""
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as sock:
        sock.sendall(data)
        return read_all(sock)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@contextlib.contextmanager
def asked(proxy: GuardProxy, data: bytes) -> Iterator[socket.socket]:
    """A connection on which these bytes were sent."""
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as sock:
        sock.sendall(data)
        yield sock


@contextlib.contextmanager
def tunnel(proxy: GuardProxy, admission: Admission, target: str) -> Iterator[socket.socket]:
    with asked(proxy, request(f"CONNECT {target}", admission)) as sock:
        assert read_head(sock).startswith(b"HTTP/1.1 200 ")
        yield sock


def read_head(sock: socket.socket) -> bytes:
    """What comes up to the blank line, byte by byte."""
    head = b""
    while not head.endswith(b"\r\n\r\n") and (byte := sock.recv(1)):
        head += byte
    return head


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


class Canary:
    """A port of loopback, by TCP over IPv4 and IPv6 where there is one, and by UDP; `knocks` is who came."""

    def __init__(self) -> None:
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.port: int = self._sockets[0].getsockname()[1]
        with contextlib.suppress(OSError):
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        packets.bind(("127.0.0.1", self.port))
        self._sockets.append(packets)
        for sock in self._sockets:
            sock.setblocking(False)

    def knocks(self) -> list[str]:
        """What has come since it was asked last: connections wait in the backlog, packets in the buffer."""
        return [knock for sock in self._sockets for knock in _taken(sock)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sock in self._sockets:
            sock.close()


def _taken(sock: socket.socket) -> Iterator[str]:
    with contextlib.suppress(BlockingIOError):
        while True:
            if sock.type == socket.SOCK_DGRAM:
                yield f"UDP {sock.recv(2048)!r}"
                continue
            visitor, _ = sock.accept()
            with visitor:
                visitor.settimeout(0.5)
                try:
                    said = visitor.recv(2048)
                except OSError:
                    said = b""
            yield f"TCP {said!r}"
