"""What the HTTP client is made of: each layer sends a call through the one below it. From the top: cookies, trust,
proxies, and `exchange_sender`, which sends it over a transport. A client has only the layers that its crawl needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import requests
from msgspec.structs import replace

from crawler.core.urls.normalise import host_of
from crawler.http.body import BodyPolicy
from crawler.http.cookies import Cookies, redacted, without_value
from crawler.http.errors import FetchTimeout, RequestAborted, one_line
from crawler.http.fetcher import FetchResult
from crawler.http.proxies import Proxies
from crawler.http.request import Exchange


class Call(NamedTuple):
    """One request, and which bodies of responses to it are read."""

    request: requests.PreparedRequest
    origin: str  # "scheme://host[:port]"
    body_policy: BodyPolicy
    anonymous: bool  # without credentials and cookies


class Layer(Protocol):
    """Sends one call at a time; raises nothing for what a server does."""

    def send(self, call: Call) -> FetchResult: ...

    def close(self) -> None:
        """Close all connections."""
        ...


class CookieLayer:
    """Keeps the cookies that responses set, and removes their values from the results."""

    def __init__(self, below: Layer, cookies: Cookies) -> None:
        self._below, self._cookies = below, cookies
        self.close = below.close

    def send(self, call: Call) -> FetchResult:
        result = self._below.send(call)
        if not call.anonymous:
            self._cookies.note(call.request.url or "", result.cookies)
        record = result.recorded
        if record is not None:
            headers = tuple(
                (name, without_value(value) if name.lower() == "set-cookie" else value)
                for name, value in record.headers
            )
            record = replace(record, headers=headers)
        return replace(result, headers=redacted(result.headers), recorded=record, cookies=())


class TrustLayer:
    """Asks an origin over connections that verify its certificate. If it is not trusted, from then on over others, and
    the results say why it is not."""

    def __init__(self, verified: Layer, unverified: Layer, exchange: Exchange) -> None:
        self._verified, self._unverified, self._exchange = verified, unverified, exchange
        self._reasons: dict[str, str] = {}  # origin -> why its certificate is not trusted

    def send(self, call: Call) -> FetchResult:
        if call.origin not in self._reasons:
            result = self._verified.send(call)
            if not self._exchange.certificate_error:
                return result
            self._reasons[call.origin] = self._exchange.certificate_error
            self._exchange.begin_try()
        result = self._unverified.send(call)
        return result if result.http_status is None else replace(result, certificate_error=self._reasons[call.origin])

    def close(self) -> None:
        self._verified.close()
        self._unverified.close()


class Sender(Layer, Protocol):
    """The lowest layer: one way to the servers."""

    @property
    def is_proxy_down(self) -> bool:
        """Whether the last call failed before the proxy."""
        ...


class ProxyLayer:
    """Sends a call through the proxy of its host; through the next one if that cannot be connected to."""

    def __init__(self, proxies: Proxies, sender_of: Callable[[int], Sender], exchange: Exchange) -> None:
        self._proxies, self._sender_of, self._exchange = proxies, sender_of, exchange
        self._senders: dict[int, Sender] = {}  # by number of the proxy

    def send(self, call: Call) -> FetchResult:
        numbers = self._proxies.order(host_of(call.request.url or ""))
        for place, number in enumerate(numbers):
            if place:
                self._exchange.begin_try()
            if number not in self._senders:
                self._senders[number] = self._sender_of(number)
            result = self._senders[number].send(call)
            if not self._has_time():
                return result
            if not self._senders[number].is_proxy_down:
                self._proxies.note_success(number)
                return result
            self._proxies.note_failure(number)
        if len(numbers) == 1:
            return result
        error = one_line(f"none of the {len(numbers)} proxies can be connected to; the last: {result.error}")
        return replace(result, error=error)

    def close(self) -> None:
        for sender in self._senders.values():
            sender.close()

    def _has_time(self) -> bool:
        try:
            return self._exchange.time_left(self._exchange.limits.total_seconds) > 0
        except (FetchTimeout, RequestAborted):
            return False
