"""The lowest layer of the HTTP client: sends calls over one transport, and reads the responses within the limits."""

from __future__ import annotations

import ssl
from collections.abc import Collection

from msgspec.structs import replace

from crawler import conf
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.http.body import BodyStream, body_of
from crawler.http.connection import Trust
from crawler.http.connector import Route, refusal
from crawler.http.errors import FETCH_ERRORS, FetchTimeout, explain, one_line, outcome_of, tls_error_text
from crawler.http.fetcher import FetchResult, media_type_of, parse_retry_after, text_of
from crawler.http.layers import Call
from crawler.http.memory_budget import MemoryShare, memory_budget
from crawler.http.request import Clock, Exchange
from crawler.http.transports.requests_transport import RequestsTransport
from crawler.http.transports.transport import RoutedAdapter, Transport
from crawler.http.warc_record import ExchangeHeads

MAX_VALIDATOR_LENGTH = 500  # characters of an ETag or Last-Modified that is stored


class ExchangeSender:
    """`public_names`: the headers whose values are in records of exchanges. `now`: epoch seconds."""

    def __init__(
        self, route: Route, exchange: Exchange, trust: Trust, now: Clock, public_names: Collection[str]
    ) -> None:
        self._route, self._exchange = route, exchange
        self._now, self._public_names = now, public_names
        self._transport = _transport(route, exchange, trust)
        self._share: MemoryShare | None = None  # of the memory budget, while a large body is read
        self.close = self._transport.close

    @property
    def is_proxy_down(self) -> bool:
        return self._route.is_proxy_down

    def send(self, call: Call) -> FetchResult:
        """Sent twice if a kept connection had been closed, unless it is a POST."""
        result, sent = self._send(call), int(self._exchange.sent)
        if call.request.method != "POST" and self._was_closed_while_idle(result):
            self._exchange.begin_try()
            result, sent = self._send(call), sent + int(self._exchange.sent)
        return replace(result, requests=sent)

    def _was_closed_while_idle(self, result: FetchResult) -> bool:
        """Whether a kept connection broke before a byte of the response: the server had ended it meanwhile."""
        return result.outcome is Outcome.CONNECT and self._exchange.reused and self._exchange.received == 0

    def _send(self, call: Call) -> FetchResult:
        try:
            response = self._transport.send(call.request).raw
        except FETCH_ERRORS as error:
            if isinstance(error, ssl.SSLCertVerificationError):
                self._exchange.certificate_error = one_line(tls_error_text(error))
            stage = "within the headers" if self._exchange.received else "before a response arrived"
            return FetchResult(outcome=outcome_of(error), error=explain(error, stage))
        result = self._result_of(call, response)
        try:
            body = body_of(
                response, result, call.body_policy, self._exchange.limits.max_body_bytes, self._reserve_memory
            )
            return replace(result, body=body, share=self._share, bytes_read=response.bytes_read)
        except FETCH_ERRORS as error:
            message = explain(error, "within the body")
            return replace(result, outcome=outcome_of(error), error=message, bytes_read=response.bytes_read)
        finally:
            response.close()
            self._share = None

    def _reserve_memory(self, size: int) -> None:
        seconds = self._exchange.time_left(self._exchange.limits.total_seconds)
        self._share = memory_budget.take(size, seconds)
        if self._share is None:
            raise FetchTimeout(f"waited {seconds:.0f} seconds for memory: too many large pages at the same time")

    def _result_of(self, call: Call, response: BodyStream) -> FetchResult:
        """What the head of the response says."""
        gateway = self._route.gateway
        if gateway is not None and gateway.forwards and self._is_from_proxy(response):
            refused = refusal(gateway.proxy, response.status)
            return FetchResult(outcome=refused.outcome, error=str(refused))
        content_type = response.header(b"content-type")
        outcome = of_status(response.status)
        unknown = (
            f"the server responded with the invalid status {response.status}" if outcome is Outcome.MALFORMED else ""
        )
        return FetchResult(
            outcome=outcome,
            http_status=response.status,
            content_type=media_type_of(content_type),
            content_type_header=content_type,
            location=text_of(response.header(b"location")),
            retry_after=parse_retry_after(response.header(b"retry-after"), self._now()),
            etag=_validator(response, b"etag"),
            last_modified=_validator(response, b"last-modified"),
            robots_tags=tuple(map(text_of, response.headers(b"x-robots-tag"))),
            cookies=tuple(response.headers(b"set-cookie")),
            headers=response.head(),
            recorded=self._recorded(call, response) if self._exchange.records else None,
            first_byte_ms=self._exchange.elapsed_ms(),
            error=unknown,
        )

    def _is_from_proxy(self, response: BodyStream) -> bool:
        """To a request for a whole URL the proxy's own 407 comes in place of the host's response."""
        return response.status == 407 and self._exchange.url.startswith("http:")

    def _recorded(self, call: Call, response: BodyStream) -> ExchangeHeads | None:
        request, origin = call.request, call.origin
        host, target = origin[origin.index("//") + 2 :], (request.url or "")[len(origin) :]
        return response.recorded(request.method or "", target, host, request.headers, self._public_names)


def _transport(route: Route, exchange: Exchange, trust: Trust) -> Transport:
    """The one that CRAWLER_HTTP_CLIENT names."""
    if conf.http_client() == conf.CURL:
        from crawler.http.transports.curl_transport import CurlTransport  # pycurl need not be installed otherwise

        return CurlTransport(route, exchange, trust)
    if conf.http_client() == conf.REQUESTS:
        return RequestsTransport(route, exchange, trust)
    return RoutedAdapter(route, exchange, trust)


def _validator(response: BodyStream, name: bytes) -> str:
    """A validator that a later request can send back; "" if it is not printable or too long."""
    value = response.header(name)
    return value if len(value) <= MAX_VALIDATOR_LENGTH and value.isprintable() else ""
