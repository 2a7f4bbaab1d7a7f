"""How a connection gets to a host: straight to an address the guard has checked, or through a proxy.

The guard judges the host's addresses in either case: a proxy must not open a network that is closed to us. But it is
the proxy that looks the name up in the end, and nobody can know what it is told; one that reaches private networks
needs rules of its own.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import host_and_port
from crawler.http.connection import Connection, TlsConnection, Trust
from crawler.http.errors import AddressRefused, FetchTrouble, NotConnected, NotHttp, OutOfTime, ProxyRefused
from crawler.http.guard import Endpoint, Guard
from crawler.http.request import Exchange

MOST_TRIED = 8  # addresses of a host: nobody shall have us knock at hundreds of doors by one name

_STATUS = re.compile(r"[0-9]{3}")  # RFC 9112, 4

Options = Iterable[tuple[Any, ...]]
"""What `socket.setsockopt` takes, one after the other."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A proxy, and which addresses it may have: a person's crawl cannot lead us to those its guard refuses."""

    proxy: Proxy
    guard: Guard


class Route:
    """Opens the connections of one fetcher. With a `gateway` all of them go through it."""

    def __init__(self, guard: Guard, exchange: Exchange, gateway: Gateway | None = None) -> None:
        self._guard, self._exchange = guard, exchange
        self.gateway = gateway

    def open(self, host: str, port: int, options: Options, *, tunnel: bool) -> socket.socket:
        """A connected socket, for TLS to begin on if there is to be any. `tunnel` asks a proxy for a connection to the
        host itself; without, the proxy waits for requests that name the whole URL."""
        self._exchange.reused = False
        endpoints = self._resolve(self._guard, host, port)
        if self.gateway is None:
            return self._connected(endpoints, port, options, "")
        sock = self._connected(self._proxy_endpoints(self.gateway), self.gateway.proxy.port, options, "the proxy at ")
        if not tunnel:
            return sock
        try:
            self._dig(sock, self.gateway.proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except BaseException:
            sock.close()
            raise
        return sock

    def _resolve(self, guard: Guard, host: str, port: int) -> list[Endpoint]:
        seconds = self._exchange.patience(guard.lookup_seconds)
        try:
            return guard.resolve(host, port, seconds)
        except OutOfTime:
            self._exchange.patience(seconds)  # says so if it was the whole that took too long
            raise

    def _proxy_endpoints(self, gateway: Gateway) -> list[Endpoint]:
        try:
            return self._resolve(gateway.guard, gateway.proxy.host, gateway.proxy.port)
        except AddressRefused as error:
            raise AddressRefused(f"the proxy cannot be used: {error}") from None
        except FetchTrouble as error:
            self._exchange.patience(gateway.guard.lookup_seconds)  # if the whole took too long, the proxy is not blamed
            raise NotConnected(f"the proxy cannot be used: {error}") from None

    def _connected(self, endpoints: list[Endpoint], port: int, options: Options, what: str) -> socket.socket:
        failure: FetchTrouble = NotConnected("the host has no address")
        for endpoint in endpoints[:MOST_TRIED]:
            where = f"{what}{endpoint.sockaddr[0]} port {port}"
            try:
                return self._connect(endpoint, options)
            except TimeoutError:
                failure = OutOfTime(f"no connection to {where} in {self._exchange.limits.connect_seconds:g} seconds")
            except OSError as error:
                failure = NotConnected(f"no connection to {where}: {error.strerror or error}")
        raise failure

    def _connect(self, endpoint: Endpoint, options: Options) -> socket.socket:
        seconds = self._exchange.limits.connect_seconds
        sock = socket.socket(endpoint.family, socket.SOCK_STREAM)
        self._exchange.uses(sock)
        try:
            for option in options:
                sock.setsockopt(*option)
            sock.settimeout(self._exchange.patience(seconds))
            sock.connect(endpoint.sockaddr)
            sock.settimeout(self._exchange.patience(seconds))  # for the TLS handshake, if there is one
        except BaseException:
            sock.close()
            raise
        return sock

    def _dig(self, sock: socket.socket, proxy: Proxy, target: str) -> None:
        """Have the proxy connect us to the target (RFC 9110, 9.3.6), or raise what it says instead."""
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.authorization:
            lines.append(f"Proxy-Authorization: {proxy.authorization}")
        sock.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        status, reason = _read_status(self._head(sock))
        if not 200 <= status <= 299:
            raise refusal(proxy, status, reason)
        sock.settimeout(self._exchange.patience(self._exchange.limits.connect_seconds))

    def _head(self, sock: socket.socket) -> bytes:
        """The proxy's answer up to its blank line. Nothing may follow: the host waits for us to begin with TLS."""
        head, seconds = bytearray(), self._exchange.limits.read_seconds
        while b"\r\n\r\n" not in head:
            sock.settimeout(self._exchange.patience(seconds))
            try:
                piece = sock.recv(4096)
            except TimeoutError as error:
                self._exchange.patience(seconds)  # says so if it was the whole that took too long
                raise OutOfTime(f"the proxy said nothing for {seconds:g} seconds") from error
            if not piece:
                raise NotConnected("the proxy hung up")
            head += piece
            if len(head) > self._exchange.limits.max_header_bytes:
                raise NotHttp("the proxy's headers do not end")
        return bytes(head)


def refusal(proxy: Proxy, status: int, reason: str = "") -> ProxyRefused:
    if status == 407:
        known = "does not accept the user and password" if proxy.authorization else "asks for a user and password"
        return ProxyRefused(f"the proxy {known} (407)")
    return ProxyRefused(f"the proxy refuses to connect to the host: {status} {reason}".rstrip())


def _read_status(head: bytes) -> tuple[int, str]:
    version, _, rest = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
    code, _, reason = rest.partition(" ")
    if not version.startswith("HTTP/1.") or _STATUS.fullmatch(code) is None:
        raise NotHttp("the proxy does not answer in HTTP")
    return int(code), reason


# Opens a connection on the fetcher's route, through TLS where the URL says so.
#
# The guard's address is the one connected to, so a name server that answers differently a moment later changes
# nothing; Host, SNI and the certificate still go by the name.

_AT_ONCE = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]  # a request is whole when it is sent: nothing to wait for


def connect(origin: str, route: Route, exchange: Exchange, trust: Trust) -> Connection:
    """A new connection to "scheme://host[:port]". Raises FetchTrouble and OSError, ssl.SSLError among them."""
    host, port = host_and_port(origin)
    is_tls = origin.startswith("https:")
    sock = route.open(host, port, _AT_ONCE, tunnel=is_tls)
    try:
        return TlsConnection(sock, host, exchange, trust) if is_tls else Connection(sock, exchange)
    except BaseException:
        sock.close()
        raise
