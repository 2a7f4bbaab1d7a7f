"""Threads and raw sockets that send whatever a trap says, and count every byte the other side took."""

import contextlib
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from types import TracebackType
from typing import Self

MOST = 64 * 1024 * 1024  # bytes of one answer; who has taken so many is taken in by anything
PIECE = 64 * 1024
HELLO = b"\x16\x03"  # the first bytes of who speaks TLS


class Then(Enum):
    """What a trap does with the connection; CLOSE at the end of what it sends, unless it says otherwise."""

    CLOSE = auto()
    RESET = auto()
    KEEP = auto()  # waits for the next request
    STALL = auto()  # says nothing more


Step = bytes | float | Then
"""Bytes to send, seconds to wait, or how it ends."""

Play = Callable[["Asked"], Iterator[Step]]
"""What a trap does, step by step."""


class Asked:
    """One request, as far as traps care, and the addresses they lead to."""

    def __init__(self, path: str, method: str, site: str, canary: str, number: int) -> None:
        self.path, self.method, self.number = path, method, number
        self.site = site  # "127.0.0.1:PORT"
        self.canary = canary  # the same of a port nobody may knock at


class Canary:
    """A port that nobody may knock at."""

    def __init__(self, address: str) -> None:
        self._listener = socket.create_server((address, 0))
        self.port: int = self._listener.getsockname()[1]
        self.address = f"{address}:{self.port}"
        self.knocks: list[bytes] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.knocks.append(b"")  # whatever comes of it
            with sock, contextlib.suppress(OSError):
                sock.settimeout(1)
                self.knocks[-1] = sock.recv(500)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


class Server:
    """Answers on one port of several loopback addresses: each host of `hosts` is a dict of path to what it plays. Those
    of `tls` speak that; another plays what stands at "" to who begins with it."""

    def __init__(
        self, hosts: Mapping[str, Mapping[str, Play]], port: int = 0, tls: Mapping[str, ssl.SSLContext] | None = None
    ) -> None:
        self._hosts, self._tls = hosts, tls or {}
        self.taken: Counter[str] = Counter()  # "host/path" -> bytes the other side took of its largest answer
        self.asked: Counter[str] = Counter()  # "host/path" -> how often; "host" -> how often for TLS
        self.canary = Canary("127.0.0.1")
        self._over = threading.Event()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listeners: dict[str, socket.socket] = {}
        for host in hosts:
            self._listeners[host] = _listener(host, port)
            port = self._listeners[host].getsockname()[1]
        self.port = port
        self.addresses = [f"{host}:{port}" for host in hosts]
        self.url = f"http://{self.addresses[0]}/"

    def __enter__(self) -> Self:
        for host, listener in self._listeners.items():
            self._start(self._accept, host, listener)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for sock in (*self._listeners.values(), *self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        self.canary.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, host: str, listener: socket.socket) -> None:
        while not self._over.is_set():
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            self._open.add(sock)
            self._start(self._serve, host, sock)

    def _serve(self, host: str, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), self._greeted(host, sock) as spoken:
            while (first := _request(spoken)) is not None:
                method, path = first
                name = f"{host}{path}"
                asked = Asked(path, method, f"{host}:{self.port}", self.canary.address, self.asked[name])
                self.asked[name] += 1
                if self._play(name, self._hosts[host], asked, spoken) is not Then.KEEP:
                    break
        self._open.discard(sock)

    def _greeted(self, host: str, sock: socket.socket) -> socket.socket:
        if host not in self._tls:
            return sock
        self.asked[host] += 1
        secure = self._tls[host].wrap_socket(sock, server_side=True)
        self._open.add(secure)
        return secure

    def _play(self, name: str, traps: Mapping[str, Play], asked: Asked, sock: socket.socket) -> Then:
        sent, play = 0, _found(traps, asked.path)
        for step in play(asked):
            match step:
                case bytes():
                    for at in range(0, len(step), PIECE):
                        sock.sendall(step[at : at + PIECE])
                        sent += len(step[at : at + PIECE])
                        self.taken[name] = max(self.taken[name], sent)
                    if sent > MOST:
                        return Then.CLOSE
                case float():
                    if self._over.wait(step):
                        return Then.CLOSE
                case Then.RESET:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return step
                case Then.STALL:
                    self._over.wait()
                    return step
                case _:
                    return step
        return Then.CLOSE


def _listener(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)  # what lies in it counts as taken
    listener.bind((host, port))
    listener.listen(256)
    return listener


def _request(sock: socket.socket) -> tuple[str, str] | None:
    """Method and path of the next request; both are "" when it is the hello of TLS."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = sock.recv(PIECE)
        if not piece:
            return None
        head += piece
        if head.startswith(HELLO):
            return "", ""
    method, path, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
    return method, path


def _found(traps: Mapping[str, Play], path: str) -> Play:
    """The trap at this path, or at the folder that ends in "/" it lies in."""
    if path in traps:
        return traps[path]
    folders = [name for name in traps if name.endswith("/") and name != "/" and path.startswith(name)]
    return traps[max(folders, key=len)] if folders else _missing


def _missing(asked: Asked) -> Iterator[Step]:
    yield b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    yield Then.KEEP
