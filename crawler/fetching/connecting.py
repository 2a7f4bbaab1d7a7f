"""Opens a connection on the fetcher's route, through TLS where the URL says so.

The guard's address is the one connected to, so a name server that answers differently a moment later changes
nothing; Host, SNI and the certificate still go by the name.
"""

from __future__ import annotations

import socket

from crawler.core.urls import host_and_port
from crawler.fetching.connection import Connection
from crawler.fetching.exchange import Exchange
from crawler.fetching.routes import Route
from crawler.fetching.tls import TlsConnection
from crawler.fetching.trust import Trust

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
