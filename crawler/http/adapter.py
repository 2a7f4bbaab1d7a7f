"""An adapter for requests: HTTP/1.1 over guarded connections, one kept for each origin; no retries, no cookie jar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import requests
from requests.adapters import BaseAdapter

from crawler.core.urls.normalise import origin_of
from crawler.http.body import Answer, receive
from crawler.http.connection import Kept
from crawler.http.connector import Route, connect
from crawler.http.request import Exchange
from crawler.http.response_parser import Reading
from crawler.http.tls import Trust
from crawler.http.warc_record import RecordedReading

_LINE_END = re.compile(r"[\r\n\0]")


class AnswerResponse(requests.Response):
    """Its status, and in `raw` all the rest: a cookie jar and a dictionary of headers, which nobody asks for, would
    cost as much to make as the response to read."""

    def __init__(self, answer: Answer) -> None:
        self.status_code = answer.status
        self.raw: Answer = answer


class RoutedAdapter(BaseAdapter):
    """Sends what stands in a `PreparedRequest`, and nothing of its own but Host: the target to the letter, the headers
    in their order.

    It serves one exchange at a time and is not for sharing between threads.
    """

    def __init__(self, route: Route, exchange: Exchange, trust: Trust) -> None:
        super().__init__()
        self._route = route
        self._exchange = exchange
        self._trust = trust
        self._kept = Kept()
        self._spelt: tuple[Mapping[str, str], bytes] = {}, b""  # the headers of the last request, and their bytes

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> AnswerResponse:
        """The answer when its head is complete. Raises `TROUBLE`; what the time limits are the exchange knows."""
        origin = origin_of(request.url or "")
        message = self._message(request, origin)
        connection = self._kept.take(origin) or connect(origin, self._route, self._exchange, self._trust)
        kind = RecordedReading if self._exchange.records else Reading
        reading = kind(self._exchange.limits.max_header_bytes, bodiless=request.method == "HEAD")
        connection.begin()
        try:
            connection.send(message)
            while not reading.status:
                receive(connection, reading)
        except BaseException:
            connection.close()
            reading.let_go()
            raise
        return AnswerResponse(Answer(reading, connection, partial(self._kept.keep, origin)))

    def close(self) -> None:
        self._kept.close()

    def _message(self, request: requests.PreparedRequest, origin: str) -> bytes:
        url = request.url or ""
        gateway = self._route.gateway
        target, proxys = url[len(origin) :], ""
        if gateway is not None and url.startswith("http:"):
            target = url  # the whole of it, for the proxy (RFC 9112, 3.2.2)
            if gateway.proxy.authorization:
                proxys = f"Proxy-Authorization: {gateway.proxy.authorization}\r\n"
        host = origin[origin.index("//") + 2 :]
        first = f"{request.method} {target} HTTP/1.1\r\nHost: {host}\r\n{proxys}".encode("ascii")
        body = request.body or b""
        return b"".join(
            (first, self._headers(request.headers), b"\r\n", body.encode() if isinstance(body, str) else body)
        )

    def _headers(self, headers: Mapping[str, str]) -> bytes:
        """Most requests go out with the very headers of the one before."""
        if headers is not self._spelt[0]:
            self._spelt = headers, b"".join(_line(name, value) for name, value in headers.items())
        return self._spelt[1]


def _line(name: str, value: str) -> bytes:
    if _LINE_END.search(name) or _LINE_END.search(value):
        raise ValueError(f"the header {name!r} holds a line end")  # a mistake of ours: it would begin another header
    return f"{name}: {value}\r\n".encode("latin-1")
