"""One connection, plain or TLS, within the time limits of its exchange; and the pool of idle connections."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Generic, Protocol, TypeVar

from requests.adapters import DEFAULT_CA_BUNDLE_PATH

from crawler import conf
from crawler.http.errors import ConnectionClosed, FetchTimeout
from crawler.http.event_loop import READABLE, WRITABLE, wait_for_socket
from crawler.http.request import Exchange

BUFFER = 64 * 1024  # bytes; one read from a socket


def receive_some(sock: socket.socket, most: int, seconds: Callable[[], float]) -> bytes:
    """The next bytes, as soon as there are any; `seconds` tells how long to wait. Raises OSError, TimeoutError. Other
    tasks run before each read, however fast a server sends."""
    while True:
        wait_for_socket(sock, READABLE, seconds())
        try:
            return sock.recv(most)
        except BlockingIOError:  # readiness is a hint, see select(2)
            continue


def send_all(sock: socket.socket, data: bytes, seconds: Callable[[], float]) -> None:
    """Raises OSError, and TimeoutError when the server takes nothing for so long."""
    left = data
    while True:
        seconds_left = seconds()
        try:
            left = left[sock.send(left) :]
        except BlockingIOError:
            wait_for_socket(sock, WRITABLE, seconds_left)
        if not left:
            return


def is_quiet(sock: socket.socket) -> bool:
    """Whether the other side has neither closed it nor sent anything."""
    try:
        sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


class Connection:
    """A connected socket."""

    def __init__(self, sock: socket.socket, exchange: Exchange) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._exchange = exchange

    def send(self, data: bytes) -> None:
        """Raises OSError, and FetchTimeout when the server takes nothing."""
        self._exchange.check()  # before it counts as sent
        try:
            self._put(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server that closes the connection early may have sent a response
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:  # closed by the server, not a certificate error
            raise ConnectionClosed("the server closed the connection") from error
        except TimeoutError as error:
            raise self._timeout_error("nothing could be sent") from error
        finally:
            self._exchange.note_sent()

    def receive(self) -> bytes:
        """The next bytes, as soon as there are any; b"" if the server has closed the connection."""
        try:
            data = self._get()
        except TimeoutError as error:
            raise self._timeout_error("nothing arrived" if self._exchange.received else "no response") from error
        self._exchange.received += len(data)
        return data

    def is_idle(self) -> bool:
        """Whether it can be reused: not closed, and without unexpected bytes."""
        return is_quiet(self._socket)

    def close(self) -> None:
        self._socket.close()

    def _put(self, data: bytes) -> None:
        send_all(self._socket, data, self._seconds)

    def _get(self) -> bytes:
        return receive_some(self._socket, BUFFER, self._seconds)

    def _seconds(self) -> float:
        """How long it may wait for the next bytes."""
        return self._exchange.time_left(self._exchange.limits.read_seconds)

    def _timeout_error(self, what: str) -> FetchTimeout:
        seconds = self._exchange.limits.read_seconds
        self._exchange.time_left(seconds)  # raises if the total time limit was exceeded
        return FetchTimeout(f"{what} for {seconds:g} seconds")


MAX_IDLE_CONNECTIONS = 8  # a slice needs one, its robots.txt perhaps another


class Reusable(Protocol):
    """What a pool keeps."""

    def is_idle(self) -> bool: ...

    def close(self) -> None: ...


R = TypeVar("R", bound=Reusable)


class IdleConnections(Generic[R]):
    """Idle connections by origin ("scheme://host[:port]"), the least recently used first."""

    def __init__(self) -> None:
        self._connections: dict[str, R] = {}

    def take(self, origin: str) -> R | None:
        """Remove and return the origin's connection if it can still be used."""
        connection = self._connections.pop(origin, None)
        if connection is None or connection.is_idle():
            return connection
        connection.close()
        return None

    def keep(self, origin: str, connection: R) -> None:
        self._connections[origin] = connection
        if len(self._connections) > MAX_IDLE_CONNECTIONS:
            self._connections.pop(next(iter(self._connections))).close()

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()


Trust = Callable[[], ssl.SSLContext]
"""Makes a context that trusts some authorities."""


def public_trust() -> ssl.SSLContext:
    """Trusts the authorities of browsers and of this machine."""
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python 3.13 and later would refuse certificates browsers accept
    context.hostname_checks_common_name = False  # as browsers since 2017
    context.options |= ssl.OP_NO_TICKET  # sessions are not resumed
    context.set_alpn_protocols(["http/1.1"])
    return context


def no_trust() -> ssl.SSLContext:
    """Asks for no proof: accepts any certificate."""
    context = public_trust()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@lru_cache(maxsize=64)
def _context(trust: Trust, certificate: str | None) -> ssl.SSLContext:
    """Made once, on first use; `certificate` is the file of a client certificate and its key, if there is one."""
    context = trust()
    if certificate is not None:
        context.load_cert_chain(certificate)
    return context


class TlsConnection(Connection):
    """A connection through TLS with a trusted certificate. OpenSSL works on memory buffers, not on the socket:

    `SSLSocket.recv` returns only with data of the page. A server that sends nothing but session tickets, a thousand to
    a record, could keep it there without a check of the time limit. Here the time left is checked before each read.
    """

    def __init__(self, sock: socket.socket, host: str, exchange: Exchange, trust: Trust) -> None:
        """Raises FetchTimeout, ConnectionClosed and ssl.SSLError."""
        super().__init__(sock, exchange)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        name = host.rstrip(".")  # certificates have no trailing dot
        context = _context(trust, conf.client_certificates().get(name))
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)
        self._handshake()

    def is_idle(self) -> bool:
        return not self._incoming.pending and not self._tls.pending() and super().is_idle()

    def _put(self, data: bytes) -> None:
        while True:
            try:
                self._tls.write(data)
                break
            except ssl.SSLWantReadError:  # renegotiation in TLS 1.2
                self._exchange_records(self._seconds)
        self._flush(self._seconds)

    def _get(self) -> bytes:
        if not self._incoming.pending and not self._tls.pending():
            self._take(self._seconds)
        while True:
            try:
                return self._tls.read(BUFFER)
            except ssl.SSLWantReadError:
                self._exchange_records(self._seconds)
            except ssl.SSLEOFError:  # closed without close_notify; the parser knows whether data is missing
                return b""

    def _handshake(self) -> None:
        seconds = self._exchange.limits.connect_seconds
        left = partial(self._exchange.time_until, self._exchange.elapsed_ms() + seconds * 1000)
        try:
            while not self._handshake_done():
                self._exchange_records(left)
            self._flush(left)
        except TimeoutError as error:
            self._exchange.time_left(seconds)  # raises if the total time limit was exceeded
            raise FetchTimeout(f"no TLS connection in {seconds:g} seconds") from error
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
            raise ConnectionClosed("the server closed the connection during the TLS handshake") from error
        except ConnectionError as error:
            raise ConnectionClosed(f"the connection broke during the TLS handshake: {error.strerror}") from error

    def _handshake_done(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError:
            with suppress(OSError):
                self._flush(lambda: 0.0)  # the TLS alert that explains the failure
            raise
        return True

    def _exchange_records(self, seconds: Callable[[], float]) -> None:
        """Send pending TLS records, and receive from the server."""
        self._flush(seconds)
        self._take(seconds)

    def _take(self, seconds: Callable[[], float]) -> None:
        data = receive_some(self._socket, BUFFER, seconds)
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _flush(self, seconds: Callable[[], float]) -> None:
        if self._outgoing.pending:
            send_all(self._socket, self._outgoing.read(), seconds)
