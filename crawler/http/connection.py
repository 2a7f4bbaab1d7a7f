"""One connection, plain or TLS: no read waits longer than the exchange may take."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from requests.adapters import DEFAULT_CA_BUNDLE_PATH

from crawler.http.errors import HungUp, OutOfTime
from crawler.http.request import Exchange

BUFFER = 64 * 1024  # bytes read from a socket at a time, at most


class Connection:
    """A connected socket."""

    def __init__(self, sock: socket.socket, exchange: Exchange) -> None:
        self._socket = sock
        self._exchange = exchange
        self._patience = -1.0  # seconds; what the socket's timeout was set to last
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def begin(self) -> None:
        """The exchange goes on over this connection."""
        self._exchange.uses(self._socket)

    def send(self, data: bytes) -> None:
        """Raises OSError, and OutOfTime when the server takes nothing."""
        self._allow_time()
        try:
            self._put(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server that hangs up on a long request may have said why
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:  # its end of a connection, and no question of trust
            raise HungUp("the server closed the connection") from error
        except TimeoutError as error:
            raise self._out_of_time("nothing was taken") from error
        finally:
            self._exchange.note_sent()

    def receive(self) -> bytes:
        """What has arrived, as soon as there is something; b"" when the server has closed the connection."""
        self._allow_time()
        try:
            data = self._get()
        except TimeoutError as error:
            raise self._out_of_time("nothing arrived" if self._exchange.received else "no answer came") from error
        if not data:
            self._exchange.check_aborted()  # else a body that ends with its connection would seem to be complete
        self._exchange.received += len(data)
        return data

    def is_quiet(self) -> bool:
        """Whether it can be asked again: not closed, and not a byte there that nobody asked for."""
        return not self._poll.poll(0)

    def close(self) -> None:
        self._socket.close()

    def _put(self, data: bytes) -> None:
        self._socket.sendall(data)

    def _get(self) -> bytes:
        return self._socket.recv(BUFFER)

    def _allow_time(self) -> None:
        """Let the socket wait as long as the exchange does; most times that is what it does already."""
        patience = self._exchange.patience(self._exchange.limits.read_seconds)
        if patience != self._patience:
            self._socket.settimeout(patience)
            self._patience = patience

    def _out_of_time(self, what: str) -> OutOfTime:
        seconds = self._exchange.limits.read_seconds
        self._exchange.patience(seconds)  # says so if it was the whole that took too long
        return OutOfTime(f"{what} for {seconds:g} seconds")


# The connections kept for the next request: one for each origin, and not many origins.

HOSTS = 8  # a slice needs one, its robots.txt perhaps another


class Kept:
    """Origin ("scheme://host[:port]") to connection, the one longest unused first."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}

    def take(self, origin: str) -> Connection | None:
        """The origin's connection if it can still be used; it is the caller's from now on."""
        connection = self._connections.pop(origin, None)
        if connection is None or connection.is_quiet():
            return connection
        connection.close()
        return None

    def keep(self, origin: str, connection: Connection) -> None:
        self._connections[origin] = connection
        if len(self._connections) > HOSTS:
            self._connections.pop(next(iter(self._connections))).close()

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()


# A connection through TLS: its handshake, and the records read here rather than by the socket's own TLS.
#
# `SSLSocket.recv` stays within OpenSSL until there is something of the page. A server that sends nothing but session
# tickets, a thousand to a record, keeps it there for as long as it likes: no time limit is looked at in between. Here
# OpenSSL is given what arrived piece by piece, and the time that is left is asked for before each.

# Whose certificates are believed.

Trust = Callable[[], ssl.SSLContext]


@lru_cache(maxsize=1)
def public_trust() -> ssl.SSLContext:
    """The certificates browsers trust and those this machine does; loaded on first use, once for the process."""
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python 3.13 and later would refuse what browsers take
    context.hostname_checks_common_name = False  # browsers have not looked there since 2017
    context.options |= ssl.OP_NO_TICKET  # no session is taken up again
    context.set_alpn_protocols(["http/1.1"])
    return context


class TlsConnection(Connection):
    """A connected socket whose other end has shown a certificate that is trusted."""

    def __init__(self, sock: socket.socket, host: str, exchange: Exchange, trust: Trust) -> None:
        """Raises OutOfTime, HungUp and ssl.SSLError."""
        super().__init__(sock, exchange)
        self._arrived, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        name = host.rstrip(".")  # no certificate ends in a dot
        self._tls = trust().wrap_bio(self._arrived, self._leaving, server_hostname=name)
        self._shake_hands()

    def is_quiet(self) -> bool:
        return not self._arrived.pending and not self._tls.pending() and super().is_quiet()

    def _put(self, data: bytes) -> None:
        while True:
            try:
                self._tls.write(data)
                break
            except ssl.SSLWantReadError:  # a handshake in between, which TLS 1.2 knows
                self._trade(self._allow_time)
        self._socket.sendall(self._leaving.read())

    def _get(self) -> bytes:
        if not self._arrived.pending and not self._tls.pending():
            self._take()
        while True:
            try:
                return self._tls.read(BUFFER)
            except ssl.SSLWantReadError:
                self._trade(self._allow_time)
            except ssl.SSLEOFError:  # closed without a word; whether something is missing the reading knows
                return b""

    def _shake_hands(self) -> None:
        seconds = self._exchange.limits.connect_seconds
        ends = self._exchange.elapsed_ms() + seconds * 1000

        def allow_time() -> None:
            left = (ends - self._exchange.elapsed_ms()) / 1000
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(self._exchange.patience(left))

        try:
            while not self._has_shaken_hands():
                self._trade(allow_time)
            self._send_what_leaves()
        except TimeoutError as error:
            self._exchange.patience(seconds)  # says so if it was the whole that took too long
            raise OutOfTime(f"no TLS connection in {seconds:g} seconds") from error
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
            raise HungUp("the server closed the connection within the TLS handshake") from error
        except ConnectionError as error:
            raise HungUp(f"the connection broke within the TLS handshake: {error.strerror}") from error

    def _has_shaken_hands(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError:
            self._send_alert()
            raise
        return True

    def _trade(self, allow_time: Callable[[], None]) -> None:
        """Send what TLS has to say, and take what the server has."""
        allow_time()
        self._send_what_leaves()
        self._take()

    def _take(self) -> None:
        data = self._socket.recv(BUFFER)
        if data:
            self._arrived.write(data)
        else:
            self._arrived.write_eof()

    def _send_what_leaves(self) -> None:
        if self._leaving.pending:
            self._socket.sendall(self._leaving.read())

    def _send_alert(self) -> None:
        """Tell the server why we go; it need not listen."""
        with suppress(OSError):
            self._send_what_leaves()
