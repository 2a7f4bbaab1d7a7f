"""One connection: opened on the fetcher's route, waited for no longer than the exchange may take.

The guard's address is the one connected to, so a name server that answers differently a moment later changes
nothing; Host, SNI and the certificate still go by the name.
"""

from __future__ import annotations

import select
import socket
import ssl
from urllib.parse import urlsplit

from crawler.fetching.exchange import Exchange
from crawler.fetching.routes import Route
from crawler.fetching.trouble import HungUp, OutOfTime
from crawler.fetching.trust import Trust

BUFFER = 64 * 1024  # bytes read from a socket at a time, at most
_AT_ONCE = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]  # a request is whole when it is sent: nothing to wait for


class Connection:
    """A connected socket, through TLS or not."""

    def __init__(self, sock: socket.socket, exchange: Exchange) -> None:
        self._socket = sock
        self._exchange = exchange
        self._patience = -1.0  # seconds; what the socket's timeout was set to last
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def send(self, data: bytes) -> None:
        """Raises OSError, and OutOfTime when the server takes nothing."""
        self._allow_time()
        try:
            self._socket.sendall(data)
        except BrokenPipeError:
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
            data = self._socket.recv(BUFFER)
        except TimeoutError as error:
            raise self._out_of_time("nothing arrived") from error
        self._exchange.received += len(data)
        return data

    def is_quiet(self) -> bool:
        """Whether it can be asked again: not closed, and not a byte there that nobody asked for."""
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return False
        return not self._poll.poll(0)

    def close(self) -> None:
        self._socket.close()

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


def connect(origin: str, route: Route, exchange: Exchange, trust: Trust) -> Connection:
    """A new connection to "scheme://host[:port]". Raises FetchTrouble and OSError, ssl.SSLError among them."""
    parts = urlsplit(origin)
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    sock = route.open(host, parts.port or (443 if is_tls else 80), _AT_ONCE, tunnel=is_tls)
    try:
        return Connection(_secured(sock, host, exchange, trust) if is_tls else sock, exchange)
    except BaseException:
        sock.close()
        raise


def _secured(sock: socket.socket, host: str, exchange: Exchange, trust: Trust) -> ssl.SSLSocket:
    try:
        return trust().wrap_socket(sock, server_hostname=host.rstrip("."))  # no certificate ends in a dot
    except TimeoutError as error:
        seconds = exchange.limits.connect_seconds
        exchange.patience(seconds)  # says so if it was the whole that took too long
        raise OutOfTime(f"no TLS connection in {seconds:g} seconds") from error
