"""Connections that take the fetcher's route, and stay open no longer than the exchange may take.

The guard's address is the one connected to, so a name server that answers differently a moment later changes
nothing; Host, SNI and the certificate still go by the name.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import requests
from requests.adapters import DEFAULT_CA_BUNDLE_PATH, HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from crawler.core.urls import origin_of
from crawler.fetching.exchange import Exchange
from crawler.fetching.routes import Route
from crawler.fetching.trouble import HeadTooLarge, OutOfTime

BUFFER = 16 * 1024  # bytes read from a socket at a time
HOSTS = 8  # hosts whose connections are kept; a slice needs one, its robots.txt perhaps another

Trust = Callable[[], ssl.SSLContext]


@lru_cache(maxsize=1)
def public_trust() -> ssl.SSLContext:
    """The certificates browsers trust and those this machine does; loaded on first use, once for the process."""
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    context.load_default_certs()
    return context


class _Arrivals(io.RawIOBase):
    """A socket's incoming bytes, counted; each wait for more ends when the exchange's time does."""

    def __init__(self, incoming: io.RawIOBase, sock: socket.socket, exchange: Exchange) -> None:
        self._incoming = incoming
        self._socket = sock
        self._exchange = exchange

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        seconds = self._exchange.limits.read_seconds
        self._socket.settimeout(self._exchange.patience(seconds))
        try:
            count = self._incoming.readinto(buffer)
        except TimeoutError as error:
            self._exchange.patience(seconds)  # says so if it was the whole that took too long
            raise OutOfTime(f"nothing arrived for {seconds:g} seconds") from error
        self._exchange.received += count or 0
        return count

    def close(self) -> None:
        self._incoming.close()
        super().close()


class _Reader(io.BufferedReader):
    """Counts what the lines of status and headers add up to; http.client limits only each line and their number."""

    def __init__(self, arrivals: _Arrivals, limit: int) -> None:
        super().__init__(arrivals, BUFFER)
        self._limit = limit
        self._head: int | None = 0  # bytes of the head so far; None once it is complete

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if self._head is not None:
            self._head += len(line)
            if self._head > self._limit:
                raise HeadTooLarge(f"the headers are larger than {self._limit} bytes")
        return line

    def end_head(self) -> None:
        self._head = None


class _Response(http.client.HTTPResponse):
    """http.client's reading of a response, bounded in time and size, with every interim response skipped."""

    def __init__(self, exchange: Exchange, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        incoming = self.fp.detach()  # takes the socket out of the BufferedReader of sock.makefile
        self.fp: _Reader = _Reader(_Arrivals(incoming, sock, exchange), exchange.limits.max_header_bytes)

    def begin(self) -> None:
        super().begin()
        self.fp.end_head()

    def _read_status(self) -> tuple[str, int, str]:
        """The status line of the final response (RFC 9110, 15.2): http.client knows 100 alone, and takes 103 for final.

        101 stays: we asked for no upgrade, and what follows it is not HTTP.
        """
        while True:
            line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]  # not in the stubs
            if not 102 <= line[1] <= 199:
                return line
            while self.fp.readline(BUFFER) not in (b"\r\n", b"\n", b""):
                pass


class _Routed(HTTPConnection):
    """A connection that takes the fetcher's route."""

    through_tls = False

    def __init__(self, route: Route, exchange: Exchange, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._route = route
        self._exchange = exchange
        self.response_class = partial(_Response, exchange)  # type: ignore[assignment]  # called like the class

    def _new_conn(self) -> socket.socket:
        host, port = self._dns_host.strip("[]"), self.port or self.default_port
        return self._route.open(host, port, self.socket_options or (), tunnel=self.through_tls)

    def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
        """The target goes out as it stands in the URL. urllib3 would encode it anew, and "/100%/a%20b" differently."""
        url, gateway = self._exchange.url, self._route.gateway
        if gateway is None or self.through_tls:
            super().putrequest(method, url[url.index("/", 8) :], *args, **kwargs)
            return
        super().putrequest(method, url, *args, **kwargs)  # the whole of it, for the proxy (RFC 9112, 3.2.2)
        if gateway.proxy.authorization:
            self.putheader("Proxy-Authorization", gateway.proxy.authorization)

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        try:
            super().send(data)
        finally:
            self._exchange.note_sent()


class _RoutedTls(_Routed, HTTPSConnection):
    """The same with TLS on top; HTTPSConnection speaks it on the socket that `_new_conn` gives."""

    through_tls = True


class RoutedAdapter(HTTPAdapter):
    """The adapter of requests over routed connections: one kept per host, no retries, no cookie jar.

    It serves one exchange at a time and is not for sharing between threads.
    """

    def __init__(self, route: Route, exchange: Exchange, trust: Trust) -> None:
        self._route = route
        self._exchange = exchange
        self._trust = trust
        self._recent: tuple[str, Any] | None = None  # the last origin asked, and its pool
        super().__init__(pool_connections=HOSTS, pool_maxsize=1)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        super().init_poolmanager(connections, maxsize, block, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": self._pool, "https": self._tls_pool}

    def get_connection_with_tls_context(self, request: Any, verify: Any, proxies: Any = None, cert: Any = None) -> Any:
        """The pool of the request's host; the one of the last request is not looked up again, which costs a tenth."""
        origin = origin_of(request.url)
        if self._recent is None or self._recent[0] != origin:
            self._recent = origin, super().get_connection_with_tls_context(request, verify, proxies, cert)
        return self._recent[1]

    def request_url(self, request: Any, proxies: Any) -> str:
        """Of no consequence: `putrequest` sends the target."""
        return "/"

    def close(self) -> None:
        self._recent = None
        super().close()

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Nothing to set: `trust` verifies, and is not loaded again for each connection."""

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> requests.Response:
        """Without the cookie jar, which would parse what nobody asks for."""
        response = requests.Response()
        response.status_code = resp.status
        response.raw = resp
        return response

    def _pool(self, host: str, port: int | None, **options: Any) -> HTTPConnectionPool:
        pool = HTTPConnectionPool(host, port, **options)
        pool.ConnectionCls = partial(_Routed, self._route, self._exchange)  # type: ignore[assignment]  # called like the class
        return pool

    def _tls_pool(self, host: str, port: int | None, **options: Any) -> HTTPSConnectionPool:
        pool = HTTPSConnectionPool(host, port, **{**options, "ssl_context": self._trust()})
        pool.ConnectionCls = partial(_RoutedTls, self._route, self._exchange)  # type: ignore[assignment]  # as above
        return pool
