"""One connection: its bytes waited for no longer than the exchange may take."""

from __future__ import annotations

import select
import socket
import ssl

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
