"""The HTTP client: one exchange at a time, limited in time and size, with a crawl's credentials."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import requests
from msgspec.structs import replace

from crawler import clock, conf, encryption
from crawler.core.access.credentials import NOTHING as NO_CREDENTIALS
from crawler.core.access.credentials import Credentials
from crawler.core.options.of_capabilities import WARC
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import host_of, normalise, origin_of
from crawler.http import event_loop
from crawler.http.body import BodyPolicy, BodyStream, body_of
from crawler.http.connection import Trust, no_trust, public_trust
from crawler.http.connector import Gateway, Route, refusal
from crawler.http.cookies import Cookies, redacted, without_value
from crawler.http.errors import FETCH_ERRORS, Aborted, FetchTimeout, explain, one_line, outcome_of, tls_error_text
from crawler.http.fetcher import (
    NOTHING,
    FetchResult,
    Limits,
    Wants,
    anything,
    is_html,
    media_type_of,
    nothing,
    parse_retry_after,
    text_of,
)
from crawler.http.guard import Guard
from crawler.http.memory_budget import MemoryShare, memory_budget
from crawler.http.proxies import Health, Proxies
from crawler.http.request import Clock, Exchange, Headers, RequestHeaders, end_long_step
from crawler.http.requests_transport import RequestsTransport
from crawler.http.transport import RoutedAdapter, Transport
from crawler.http.warc_record import ExchangeHeads

MAX_VALIDATOR_LENGTH = 500  # characters of an ETag or Last-Modified that is stored


class HttpFetcher:
    """A `Fetcher` with one open connection per host. Not thread-safe.

    `credentials` are sent only to `own_hosts`, see `core.access.credentials`. With a `gateway` all requests go through
    it, with `proxies` each through one of them. With `records` every response has both heads of the exchange
    (`FetchResult.recorded`). With `ignore_tls_errors` a certificate that is not trusted is accepted, and
    `FetchResult.certificate_error` says why it is not: an origin is first asked by a connection that verifies it.
    """

    def __init__(
        self,
        guard: Guard,
        user_agent: str,
        limits: Limits | None = None,
        *,
        credentials: Credentials = NO_CREDENTIALS,
        own_hosts: Sequence[str] = (),
        gateway: Gateway | None = None,
        proxies: Proxies | None = None,
        clock: Clock = event_loop.now,
        now: Clock = clock.epoch_seconds,
        trust: Trust = public_trust,
        records: bool = False,
        ignore_tls_errors: bool = False,
    ) -> None:
        self._limits = limits or Limits()
        self._now = now
        self.guard = guard
        self._proxies = proxies or Proxies([gateway] if gateway is not None else [])
        self._exchange = Exchange(self._limits, clock)
        self._exchange.records = records
        self._trust = trust
        self._ways: dict[
            tuple[int | None, bool], _ProxyRoute
        ] = {}  # by number of the proxy, and whether certificates count
        self._way = self._way_by(self._order("")[0], is_verified=True)  # of the request under way
        self._ignore_tls_errors = ignore_tls_errors
        self._unverified: dict[str, str] = {}  # origin -> why its certificate is not trusted
        self._request_headers = RequestHeaders(user_agent, credentials, own_hosts)
        self._is_anonymous = False  # the request under way
        self._share: MemoryShare | None = None  # of the memory budget, while a large body is read

    def get(
        self,
        url: str,
        *,
        wants: Wants = is_html,
        truncate_at: int | None = None,
        max_bytes: int | None = None,
        headers: Mapping[str, str] = NOTHING,
        anonymous: bool = False,
        seconds: float | None = None,
    ) -> FetchResult:
        body_policy = BodyPolicy(wants, truncate_at, max_bytes)
        return self._ask("GET", url, None, headers, body_policy, anonymous=anonymous, seconds=seconds)

    def head(self, url: str, *, anonymous: bool = False, seconds: float | None = None) -> FetchResult:
        return self._ask("HEAD", url, None, NOTHING, _NO_BODY, anonymous=anonymous, seconds=seconds)

    def request(
        self, method: str, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float | None = None
    ) -> FetchResult:
        """The response to a GET, HEAD or POST with its body, whatever its type. `headers` as for `get`."""
        sent = {**headers, "Content-Length": str(len(body))} if body or method == "POST" else headers
        wanted = _NO_BODY if method == "HEAD" else BodyPolicy(anything)
        return self._ask(method, url, body or None, sent, wanted, anonymous=False, seconds=seconds)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> FetchResult:
        """The result of sending `body`, without credentials; the body of the response is not read. Never sent twice."""
        sent = {**headers, "Content-Length": str(len(body))}
        return self._ask("POST", url, body, sent, _NO_BODY, anonymous=True)

    def submit(self, url: str, body: bytes, headers: Mapping[str, str]) -> FetchResult:
        """The result of sending a form of one of the crawl's own hosts, with credentials and cookies. Never sent
        twice."""
        sent = {**headers, "Content-Length": str(len(body))}
        return self._ask("POST", url, body, sent, BodyPolicy(is_html), anonymous=False)

    @property
    def cookies(self) -> Cookies | None:
        return self._request_headers.cookies

    def use_cookies(self, cookies: Cookies) -> None:
        """From now on requests that are not anonymous get cookies from this jar, and their responses set them. No
        response shows their values any more."""
        self._request_headers.cookies = cookies

    def serve(self, on_sent: Callable[[], None], may_continue: Callable[[], bool] | None = None) -> None:
        """Call `on_sent` for every request, right after its bytes were written to the socket and before the response:
        twice in one `get` if a pooled connection had been closed. A request goes on only while it `may_continue`, which
        is asked before each step; else it raises Aborted."""
        self._exchange.on_sent, self._exchange.may_continue = on_sent, may_continue

    def abort(self) -> None:
        """Reset all connections, so that a request under way raises Aborted; called by any thread."""
        self._exchange.abort()

    def close(self) -> None:
        for way in self._ways.values():
            way.transport.close()

    def gateway_for(self, url: str) -> Gateway | None:
        """The proxy that this normalised URL is requested through; None = none."""
        number = self._order(host_of(url))[0]
        return None if number is None else self._proxies.gateways[number]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        body_policy: BodyPolicy,
        *,
        anonymous: bool,
        seconds: float | None = None,
    ) -> FetchResult:
        address = normalise(url)
        if address is None:
            return FetchResult(outcome=Outcome.MALFORMED, error=one_line(f"{url!r} is not a web address"))
        request = _prepared(method, address, body, self._request_headers.headers(address, headers, anonymous=anonymous))
        end_long_step()
        self._is_anonymous = anonymous
        self._exchange.begin(address, seconds)
        origin = origin_of(address)
        was_verified = origin not in self._unverified
        fetched, sent = self._try_proxies(request, body_policy), int(self._exchange.sent)
        if was_verified and origin in self._unverified:
            self._exchange.begin_try()
            fetched, sent = self._try_proxies(request, body_policy), int(self._exchange.sent)
        if method != "POST" and self._was_closed_while_idle(fetched):
            self._exchange.begin_try()
            fetched, sent = self._try(request, body_policy), sent + int(self._exchange.sent)
        if self._exchange.is_aborted:  # what came of it says nothing about the server
            raise Aborted
        accepted = self._unverified.get(origin, "") if fetched.http_status is not None else ""
        return replace(fetched, requests=sent, elapsed_ms=self._exchange.elapsed_ms(), certificate_error=accepted)

    def _was_closed_while_idle(self, fetched: FetchResult) -> bool:
        """Whether a kept connection broke before a byte of the response: the server had ended it meanwhile."""
        return fetched.outcome is Outcome.CONNECT and self._exchange.reused and self._exchange.received == 0

    def _try_proxies(self, request: requests.PreparedRequest, body_policy: BodyPolicy) -> FetchResult:
        """Through the host's proxy; through the next one if that cannot be connected to."""
        numbers = self._order(host_of(request.url or ""))
        for place, number in enumerate(numbers):
            if place:
                self._exchange.begin_try()
            self._way = self._way_by(number, is_verified=origin_of(request.url or "") not in self._unverified)
            fetched = self._try(request, body_policy)
            if number is None or not self._has_time():
                return fetched
            if not self._way.route.is_proxy_down:
                self._proxies.note_success(number)
                return fetched
            self._proxies.note_failure(number)
        if len(numbers) == 1:
            return fetched
        error = one_line(f"none of the {len(numbers)} proxies can be connected to; the last: {fetched.error}")
        return replace(fetched, error=error)

    def _has_time(self) -> bool:
        try:
            return self._exchange.time_left(self._limits.total_seconds) > 0
        except (FetchTimeout, Aborted):
            return False

    def _order(self, host: str) -> Sequence[int | None]:
        return self._proxies.order(host) or [None]

    def _way_by(self, number: int | None, *, is_verified: bool) -> _ProxyRoute:
        key = number, is_verified
        if key not in self._ways:
            gateway = None if number is None else self._proxies.gateways[number]
            route = Route(self.guard, self._exchange, gateway)
            trust = self._trust if is_verified else no_trust
            self._ways[key] = _ProxyRoute(route, _transport(route, self._exchange, trust))
        return self._ways[key]

    def _try(self, request: requests.PreparedRequest, body_policy: BodyPolicy) -> FetchResult:
        origin = origin_of(request.url or "")
        try:
            response = self._way.transport.send(request).raw
        except FETCH_ERRORS as error:
            if self._ignore_tls_errors and isinstance(error, ssl.SSLCertVerificationError):
                self._unverified[origin] = one_line(tls_error_text(error))
            stage = "within the headers" if self._exchange.received else "before an answer came"
            return FetchResult(outcome=outcome_of(error), error=explain(error, stage))
        fetched = self._head_of(response)
        if self._exchange.records:
            fetched = replace(fetched, recorded=self._recorded(request, response))
        if self._request_headers.cookies is not None:
            if not self._is_anonymous:
                self._request_headers.cookies.note(request.url or "", response.headers(b"set-cookie"))
            fetched = _without_cookies(fetched)
        try:
            body = body_of(response, fetched, body_policy, self._limits.max_body_bytes, self._reserve_memory)
            return replace(fetched, body=body, share=self._share, bytes_read=response.bytes_read)
        except FETCH_ERRORS as error:
            message = explain(error, "within the body")
            return replace(fetched, outcome=outcome_of(error), error=message, bytes_read=response.bytes_read)
        finally:
            response.close()
            self._share = None

    def _reserve_memory(self, size: int) -> None:
        seconds = self._exchange.time_left(self._limits.total_seconds)
        self._share = memory_budget.take(size, seconds)
        if self._share is None:
            raise FetchTimeout(f"waited {seconds:.0f} seconds for memory: too many large pages at the same time")

    def _recorded(self, request: requests.PreparedRequest, response: BodyStream) -> ExchangeHeads | None:
        url, origin = request.url or "", origin_of(request.url or "")
        host = origin[origin.index("//") + 2 :]
        return response.recorded(
            request.method or "", url[len(origin) :], host, request.headers, self._request_headers.public_names
        )

    def _is_from_proxy(self, response: BodyStream) -> bool:
        """To a request for a whole URL the proxy's own 407 comes in place of the host's response."""
        return response.status == 407 and self._exchange.url.startswith("http:")

    def _head_of(self, response: BodyStream) -> FetchResult:
        gateway = self._way.route.gateway
        if gateway is not None and gateway.forwards and self._is_from_proxy(response):
            refused = refusal(gateway.proxy, response.status)
            return FetchResult(outcome=refused.outcome, error=str(refused))
        content_type = response.header(b"content-type")
        outcome = of_status(response.status)
        unknown = f"the server answered with status {response.status}" if outcome is Outcome.MALFORMED else ""
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
            headers=response.head(),
            first_byte_ms=self._exchange.elapsed_ms(),
            error=unknown,
        )


def _without_cookies(fetched: FetchResult) -> FetchResult:
    """The response without the values of the cookies it sets."""
    record = fetched.recorded
    if record is not None:
        headers = tuple(
            (name, without_value(value) if name.lower() == "set-cookie" else value) for name, value in record.headers
        )
        record = replace(record, headers=headers)
    return replace(fetched, headers=redacted(fetched.headers), recorded=record)


_NO_BODY = BodyPolicy(nothing)


class _ProxyRoute(NamedTuple):
    """Connections through one proxy, or directly."""

    route: Route
    transport: Transport


def _transport(route: Route, exchange: Exchange, trust: Trust) -> Transport:
    """The one that CRAWLER_HTTP_CLIENT names."""
    if conf.http_client() == conf.CURL:
        from crawler.http.curl_transport import CurlTransport  # pycurl need not be installed otherwise

        return CurlTransport(route, exchange, trust)
    if conf.http_client() == conf.REQUESTS:
        return RequestsTransport(route, exchange, trust)
    return RoutedAdapter(route, exchange, trust)


def _prepared(method: str, url: str, body: bytes | None, headers: Headers) -> requests.PreparedRequest:
    """Filled in directly: `prepare` would take longer than the exchange and change the URL."""
    request = requests.PreparedRequest()
    request.method = method
    request.url = url
    request.headers = headers
    request.body = body
    return request


def _validator(response: BodyStream, name: bytes) -> str:
    """A validator that a later request can send back; "" if it is not printable or too long."""
    value = response.header(name)
    return value if len(value) <= MAX_VALIDATOR_LENGTH and value.isprintable() else ""


READ_TIMEOUT_SHARE = 1 / 3  # of the total timeout: the longest wait for the next byte


def fetcher_for(
    policy: FetchPolicy, guard: Guard, seconds: float | None = None, health: Health | None = None
) -> HttpFetcher:
    """A fetcher for one host with the crawl's credentials, hosts and proxies, whose `health` is known. A request may
    take `seconds`; the default is the setting. SealBroken if this process has another SECRET_KEY than the one that
    encrypted the credentials."""
    credentials = encryption.opened(policy.sealed)
    total = conf.page_seconds() if seconds is None else seconds
    return HttpFetcher(
        guard,
        policy.user_agent,
        Limits(
            max_body_bytes=policy.max_body_bytes,
            total_seconds=total,
            read_seconds=min(total, conf.page_seconds() * READ_TIMEOUT_SHARE),
        ),
        credentials=credentials,
        own_hosts=policy.own_hosts,
        gateway=None if credentials.proxies else gateway_of(None, guard),
        proxies=_proxies(credentials, guard, health),
        records=WARC in policy.keep,
        ignore_tls_errors=policy.ignore_tls_errors,
    )


def _proxies(credentials: Credentials, guard: Guard, health: Health | None) -> Proxies | None:
    """The crawl's own proxies, whose addresses the guard must allow."""
    own = [Gateway(Proxy.parse(proxy), guard) for proxy in credentials.proxies]
    return Proxies(own, health) if own else None


def gateway_of(proxy: str | None, guard: Guard) -> Gateway | None:
    """The crawl's own proxy, whose address the guard must allow; else the operator's, which is always allowed."""
    if proxy is not None:
        return Gateway(Proxy.parse(proxy), guard)
    operators = conf.proxy()
    return Gateway(operators, Guard((operators.where,))) if operators is not None else None
