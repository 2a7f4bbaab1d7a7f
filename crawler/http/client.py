"""The HTTP client: one exchange at a time, limited in time and size, with a crawl's credentials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import requests
from msgspec.structs import replace

from crawler import clock, conf, encryption
from crawler.closing import Closing
from crawler.core.access.credentials import NOTHING as NO_CREDENTIALS
from crawler.core.access.credentials import Credentials
from crawler.core.pages.content_formats import WARC
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import host_of, normalise, origin_of
from crawler.http import event_loop
from crawler.http.body import BodyPolicy
from crawler.http.connection import Trust, no_trust, public_trust
from crawler.http.connector import Gateway, Route
from crawler.http.cookies import Cookies
from crawler.http.errors import RequestAborted, one_line
from crawler.http.exchange_sender import ExchangeSender
from crawler.http.fetcher import (
    NOTHING,
    FetchResult,
    Limits,
    Wants,
    anything,
    is_html,
    nothing,
)
from crawler.http.guard import Guard
from crawler.http.layers import Call, CookieLayer, Layer, ProxyLayer, TrustLayer
from crawler.http.proxies import Health, Proxies
from crawler.http.request import Clock, Exchange, Headers, RequestHeaders, end_long_step


class HttpFetcher(Closing):
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
        self.guard = guard
        self._exchange = exchange = Exchange(limits or Limits(), clock)
        exchange.records = records
        self._request_headers = RequestHeaders(user_agent, credentials, own_hosts)
        self._proxies = proxies or Proxies([gateway] if gateway is not None else [])

        def sender(through: Gateway | None, trust: Trust) -> ExchangeSender:
            route = Route(guard, exchange, through)
            return ExchangeSender(route, exchange, trust, now, self._request_headers.public_names)

        def way(trust: Trust) -> Layer:
            gateways = self._proxies.gateways
            if not gateways:
                return sender(None, trust)
            return ProxyLayer(self._proxies, lambda number: sender(gateways[number], trust), exchange)

        self._chain: Layer = TrustLayer(way(trust), way(no_trust), exchange) if ignore_tls_errors else way(trust)
        self._top = self._chain  # with the cookies of a crawl that logs in above it

    def get(
        self,
        url: str,
        *,
        wants: Wants = is_html,
        truncate_at: int | None = None,
        headers: Mapping[str, str] = NOTHING,
        anonymous: bool = False,
        seconds: float | None = None,
    ) -> FetchResult:
        body_policy = BodyPolicy(wants, truncate_at)
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
        self._top = CookieLayer(self._chain, cookies)

    def serve(self, on_sent: Callable[[], None], may_continue: Callable[[], bool] | None = None) -> None:
        """Call `on_sent` for every request, right after its bytes were written to the socket and before the response:
        twice in one `get` if a pooled connection had been closed. A request goes on only while it `may_continue`, which
        is asked before each step; else it raises RequestAborted."""
        self._exchange.on_sent, self._exchange.may_continue = on_sent, may_continue

    def abort(self) -> None:
        """Reset all connections, so that a request under way raises RequestAborted; called by any thread."""
        self._exchange.abort()

    def close(self) -> None:
        self._top.close()

    def gateway_for(self, url: str) -> Gateway | None:
        """The proxy that this normalised URL is requested through; None = none."""
        numbers = self._proxies.order(host_of(url))
        return self._proxies.gateways[numbers[0]] if numbers else None

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
        self._exchange.begin(address, seconds)
        result = self._top.send(Call(request, origin_of(address), body_policy, anonymous))
        if self._exchange.is_aborted:  # what came of it says nothing about the server
            raise RequestAborted
        return replace(result, elapsed_ms=self._exchange.elapsed_ms())


_NO_BODY = BodyPolicy(nothing)


def _prepared(method: str, url: str, body: bytes | None, headers: Headers) -> requests.PreparedRequest:
    """Filled in directly: `prepare` would take longer than the exchange and change the URL."""
    request = requests.PreparedRequest()
    request.method = method
    request.url = url
    request.headers = headers
    request.body = body
    return request


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
        gateway=None if credentials.proxies else operators_gateway(),
        proxies=_proxies(credentials, guard, health),
        records=WARC in policy.keep,
        ignore_tls_errors=policy.ignore_tls_errors,
    )


def _proxies(credentials: Credentials, guard: Guard, health: Health | None) -> Proxies | None:
    """The crawl's own proxies, whose addresses the guard must allow."""
    own = [Gateway(Proxy.parse(proxy), guard) for proxy in credentials.proxies]
    return Proxies(own, health) if own else None


def operators_gateway() -> Gateway | None:
    """The operator's proxy, which is always allowed."""
    operators = conf.proxy()
    return Gateway(operators, Guard((operators.where,))) if operators is not None else None
