"""Opens connections to a host: to an address the guard has checked, or through a proxy.

The guard checks the host's addresses in both cases: a proxy must not open a network that is refused here. But the proxy
resolves the name itself, perhaps to another address; a proxy that reaches private networks needs rules of its own.
"""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec

from crawler.core.urls.addresses import SOCKS5H, Proxy
from crawler.core.urls.normalise import host_and_port
from crawler.http import socks
from crawler.http.connection import Connection, TlsConnection, Trust, receive_some, send_all
from crawler.http.errors import AddressRefused, FetchError, FetchTimeout, InvalidResponse, NotConnected, ProxyRefused
from crawler.http.event_loop import WRITABLE, wait_for_socket
from crawler.http.guard import Endpoint, Guard
from crawler.http.request import Exchange
from crawler.http.resettable import ResettableSocket

MAX_ADDRESSES_TRIED = 8  # of one host name, which could have hundreds of addresses

_STATUS = re.compile(r"[0-9]{3}")  # RFC 9112, 4

Options = Iterable[tuple[Any, ...]]
"""Arguments of `socket.setsockopt`."""


class Gateway(msgspec.Struct, frozen=True):
    """A proxy, and the guard of its address: a user's proxy must not be at an address the guard refuses."""

    proxy: Proxy
    guard: Guard

    @property
    def forwards(self) -> bool:
        """Whether it takes requests for http pages itself; a SOCKS proxy passes on bytes."""
        return not self.proxy.is_socks


def is_address(host: str) -> bool:
    """Whether it is an IP address and no name."""
    return ":" in host or all(part.isdigit() for part in host.split("."))


class Route:
    """Opens the connections of one fetcher; all of them through the `gateway`, if there is one."""

    def __init__(self, guard: Guard, exchange: Exchange, gateway: Gateway | None = None) -> None:
        self._guard, self._exchange = guard, exchange
        self.gateway = gateway
        self.is_proxy_down = False  # the last connection failed before the proxy

    def forwards(self, url: str) -> bool:
        """Whether a proxy takes the request for this URL, in absolute form (RFC 9112, 3.2.2)."""
        return self.gateway is not None and self.gateway.forwards and url.startswith("http:")

    def open(self, host: str, port: int, options: Options, *, tunnel: bool) -> socket.socket:
        """A connected socket, before TLS. With `tunnel`, a proxy is asked to CONNECT to the host; without, it expects
        requests with the absolute URL."""
        self._exchange.reused = self.is_proxy_down = False
        endpoints = self._resolve(self._guard, host, port)
        if self.gateway is None:
            return self._connected(endpoints, port, options, "")
        proxy = self.gateway.proxy
        try:
            sock = self._connected(self._proxy_endpoints(self.gateway), proxy.port, options, "the proxy at ")
        except (NotConnected, FetchTimeout):
            self.is_proxy_down = True
            raise
        try:
            if not self.gateway.forwards:
                self._open_socks(sock, proxy, endpoints[0], host)
            elif tunnel:
                self._open_tunnel(sock, proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except BaseException:
            sock.close()
            raise
        return sock

    def _resolve(self, guard: Guard, host: str, port: int) -> list[Endpoint]:
        seconds = self._exchange.time_left(guard.lookup_seconds)
        try:
            return guard.resolve(host, port, seconds)
        except FetchTimeout:
            self._exchange.time_left(seconds)  # raises if the total time limit was exceeded
            raise

    def _proxy_endpoints(self, gateway: Gateway) -> list[Endpoint]:
        try:
            return self._resolve(gateway.guard, gateway.proxy.host, gateway.proxy.port)
        except AddressRefused as error:
            raise AddressRefused(f"the proxy cannot be used: {error}") from None
        except FetchError as error:
            self._exchange.time_left(gateway.guard.lookup_seconds)  # raises if the total time limit was exceeded
            raise NotConnected(f"the proxy cannot be used: {error}") from None

    def _connected(self, endpoints: list[Endpoint], port: int, options: Options, what: str) -> socket.socket:
        failure: FetchError = NotConnected("the host has no address")
        for endpoint in endpoints[:MAX_ADDRESSES_TRIED]:
            where = f"{what}{endpoint.sockaddr[0]} port {port}"
            try:
                return self._connect(endpoint, options)
            except TimeoutError:
                failure = FetchTimeout(f"no connection to {where} in {self._exchange.limits.connect_seconds:g} seconds")
            except OSError as error:
                failure = NotConnected(f"no connection to {where}: {error.strerror or error}")
        raise failure

    def _connect(self, endpoint: Endpoint, options: Options) -> socket.socket:
        seconds = self._exchange.time_left(self._exchange.limits.connect_seconds)
        sock = ResettableSocket(endpoint.family)
        self._exchange.note_opened(sock)
        sock.setblocking(False)
        try:
            for option in options:
                sock.setsockopt(*option)
            status = sock.connect_ex(endpoint.sockaddr)
            if status == errno.EINPROGRESS:
                wait_for_socket(sock, WRITABLE, seconds)
                status = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if status:
                raise OSError(status, os.strerror(status))
        except BaseException:
            sock.close()
            raise
        return sock

    def _open_socks(self, sock: socket.socket, proxy: Proxy, endpoint: Endpoint, host: str) -> None:
        seconds = self._exchange.limits.read_seconds
        try:
            name = host if proxy.scheme == SOCKS5H and not is_address(host) else ""
            socks.open_tunnel(sock, proxy, endpoint, partial(self._exchange.time_left, seconds), name)
        except TimeoutError as error:
            self._exchange.time_left(seconds)  # raises if the total time limit was exceeded
            raise FetchTimeout(f"the proxy sent nothing for {seconds:g} seconds") from error

    def _open_tunnel(self, sock: socket.socket, proxy: Proxy, target: str) -> None:
        """Have the proxy CONNECT to the target (RFC 9110, 9.3.6). Raises what it answers instead."""
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.authorization:
            lines.append(f"Proxy-Authorization: {proxy.authorization}")
        connecting = partial(self._exchange.time_left, self._exchange.limits.connect_seconds)
        send_all(sock, "".join(f"{line}\r\n" for line in (*lines, "")).encode(), connecting)
        status, reason = _read_status(self._head(sock))
        if not 200 <= status <= 299:
            raise refusal(proxy, status, reason)

    def _head(self, sock: socket.socket) -> bytes:
        """The proxy's response up to the blank line. Nothing can follow: the host waits for our TLS handshake."""
        head, seconds = bytearray(), self._exchange.limits.read_seconds
        while b"\r\n\r\n" not in head:
            try:
                piece = receive_some(sock, 4096, partial(self._exchange.time_left, seconds))
            except TimeoutError as error:
                self._exchange.time_left(seconds)  # raises if the total time limit was exceeded
                raise FetchTimeout(f"the proxy sent nothing for {seconds:g} seconds") from error
            if not piece:
                raise NotConnected("the proxy closed the connection")
            head += piece
            if len(head) > self._exchange.limits.max_header_bytes:
                raise InvalidResponse("the proxy's headers are too large")
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
        raise InvalidResponse("the response of the proxy is not HTTP")
    return int(code), reason


RECEIVE_BYTES = 128 * 1024
OPTIONS = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),  # a request is sent at once, as a whole
    # What the system receives while other pages are worked on; Linux doubles it, and else takes in over ten megabytes.
    (socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES),
]


def connect(origin: str, route: Route, exchange: Exchange, trust: Trust) -> Connection:
    """A new connection to "scheme://host[:port]", through TLS for https. Raises FetchError and OSError (ssl.SSLError).

    It goes to the address the guard has checked, so a name server that gives another answer later changes nothing;
    Host, SNI and the certificate use the name.
    """
    host, port = host_and_port(origin)
    is_tls = origin.startswith("https:")
    sock = route.open(host, port, OPTIONS, tunnel=is_tls)
    try:
        return TlsConnection(sock, host, exchange, trust) if is_tls else Connection(sock, exchange)
    except BaseException:
        sock.close()
        raise
