"""Asks a SOCKS5 proxy to connect to an address (RFC 1928), with a user and password if it wants them (RFC 1929).

The proxy is given an address that the guard has checked: what it connects to is what was checked. One that is named
socks5h:// is given the name, whose addresses were checked, too, and resolves it itself, as HTTP proxies do.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from crawler.core.urls.addresses import Proxy
from crawler.http.connection import receive_some, send_all
from crawler.http.errors import InvalidResponse, NotConnected, ProxyRefused
from crawler.http.guard import Endpoint

_VERSION, _PASSWORD_VERSION, _CONNECT = 5, 1, 1
_OPEN, _PASSWORD = 0, 2  # ways to authenticate
_IPV4, _DOMAIN_NAME, _IPV6 = 1, 3, 4  # kinds of address; a name begins with its length
_REPLIES = {
    1: "it failed",
    2: "its rules do not allow it",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the host refuses the connection",
    6: "the time to live has expired",
    7: "it does not support the command",
    8: "it does not support this type of address",
}


def open_tunnel(
    sock: socket.socket, proxy: Proxy, endpoint: Endpoint, seconds: Callable[[], float], name: str = ""
) -> None:
    """From now on the socket is a connection to the endpoint; with a `name`, to what the proxy finds by it. `seconds`
    tells how long each step may take. Raises FetchError, OSError and TimeoutError."""
    ways = [_OPEN, _PASSWORD] if proxy.user or proxy.password else [_OPEN]
    send_all(sock, bytes([_VERSION, len(ways), *ways]), seconds)
    version, way = _read(sock, 2, seconds)
    if version != _VERSION:
        raise InvalidResponse("the response of the proxy is not SOCKS5")
    if way == _PASSWORD and _PASSWORD in ways:
        _authenticate(sock, proxy, seconds)
    elif way != _OPEN:
        known = "does not accept the user and password" if proxy.user else "asks for a user and password"
        raise ProxyRefused(f"the proxy {known}")
    host, port = endpoint.sockaddr[:2]
    if name:
        kind, address = _DOMAIN_NAME, bytes([len(name)]) + name.encode()
    else:
        kind = _IPV6 if endpoint.family == socket.AF_INET6 else _IPV4
        address = socket.inet_pton(endpoint.family, str(host).partition("%")[0])
    send_all(sock, bytes([_VERSION, _CONNECT, 0, kind]) + address + int(port).to_bytes(2, "big"), seconds)
    _, status, _, kind = _read(sock, 4, seconds)
    if status:
        reason = _REPLIES.get(status, f"error {status}")
        raise ProxyRefused(f"the proxy refuses to connect to the host: {reason}")
    size = {_IPV4: 4, _IPV6: 16}.get(kind) or _read(sock, 1, seconds)[0]
    _read(sock, size + 2, seconds)  # the proxy's own address and port


def _authenticate(sock: socket.socket, proxy: Proxy, seconds: Callable[[], float]) -> None:
    user, password = proxy.user.encode(), proxy.password.encode()
    message = bytes([_PASSWORD_VERSION, len(user)]) + user + bytes([len(password)]) + password
    send_all(sock, message, seconds)
    _, status = _read(sock, 2, seconds)
    if status:
        raise ProxyRefused("the proxy does not accept the user and password")


def _read(sock: socket.socket, size: int, seconds: Callable[[], float]) -> bytes:
    """Exactly so many bytes."""
    data = b""
    while len(data) < size:
        piece = receive_some(sock, size - len(data), seconds)
        if not piece:
            raise NotConnected("the proxy closed the connection")
        data += piece
    return data
