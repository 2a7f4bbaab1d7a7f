"""How a fetcher sends its requests; and the transport of this project: HTTP/1.1 over its own connections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import requests
from requests.adapters import BaseAdapter

from crawler.core.urls.normalise import origin_of
from crawler.http.body import BodyStream, ResponseStream, receive
from crawler.http.connection import Connection, IdleConnections, Trust
from crawler.http.connector import Route, connect
from crawler.http.request import Exchange
from crawler.http.response_parser import ResponseParser
from crawler.http.warc_record import RecordingParser

_LINE_END = re.compile(r"[\r\n\0]")


class StreamedResponse(requests.Response):
    """Has only `status_code` and `raw`: a cookie jar and a dictionary of headers are not used, and would take as long
    to create as the response to read."""

    def __init__(self, response: BodyStream) -> None:
        self.status_code = response.status
        self.raw: BodyStream = response


class Transport(Protocol):
    """Sends one request at a time, within the limits of its exchange."""

    def send(self, request: requests.PreparedRequest) -> StreamedResponse:
        """The response, once its head is complete. Raises `FETCH_ERRORS`."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class RoutedAdapter(BaseAdapter):
    """Sends a `PreparedRequest` over guarded connections, one pooled per origin; no retries, no cookie jar.

    It adds only Host, and keeps the target and the order of headers as they are. It serves one exchange at a time; not
    thread-safe.
    """

    def __init__(self, route: Route, exchange: Exchange, trust: Trust) -> None:
        super().__init__()
        self._route = route
        self._exchange = exchange
        self._trust = trust
        self._pool = IdleConnections[Connection]()
        self._encoded: tuple[Mapping[str, str], bytes] = {}, b""  # the headers of the last request, and their bytes

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> StreamedResponse:
        """The response, once its head is complete. Raises `FETCH_ERRORS`; the exchange has the time limits."""
        origin = origin_of(request.url or "")
        message = self._message(request, origin)
        connection = self._pool.take(origin) or connect(origin, self._route, self._exchange, self._trust)
        parser = parser_of(request, self._exchange)
        try:
            connection.send(message)
            while not parser.status:
                receive(connection, parser)
        except BaseException:
            connection.close()
            parser.release()
            raise
        return StreamedResponse(ResponseStream(parser, connection, partial(self._pool.keep, origin)))

    def close(self) -> None:
        self._pool.close()

    def _message(self, request: requests.PreparedRequest, origin: str) -> bytes:
        url = request.url or ""
        gateway = self._route.gateway
        target, proxy_header = url[len(origin) :], ""
        if gateway is not None and self._route.forwards(url):
            target = url  # absolute form, for the proxy (RFC 9112, 3.2.2)
            if gateway.proxy.authorization:
                proxy_header = f"Proxy-Authorization: {gateway.proxy.authorization}\r\n"
        host = origin[origin.index("//") + 2 :]
        first = f"{request.method} {target} HTTP/1.1\r\nHost: {host}\r\n{proxy_header}".encode("ascii")
        body = request.body or b""
        return b"".join(
            (first, self._headers(request.headers), b"\r\n", body.encode() if isinstance(body, str) else body)
        )

    def _headers(self, headers: Mapping[str, str]) -> bytes:
        """Encoded once: most requests have the same headers object as the one before."""
        if headers is not self._encoded[0]:
            self._encoded = headers, b"".join(line_of(name, value) for name, value in headers.items())
        return self._encoded[1]


def parser_of(request: requests.PreparedRequest, exchange: Exchange) -> ResponseParser:
    kind = RecordingParser if exchange.records else ResponseParser
    return kind(exchange.limits.max_header_bytes, bodiless=request.method == "HEAD")


def line_of(name: str, value: str) -> bytes:
    if _LINE_END.search(name) or _LINE_END.search(value):
        raise ValueError(f"the header {name!r} holds a line end")  # a bug: it would begin another header
    return f"{name}: {value}\r\n".encode("latin-1")
