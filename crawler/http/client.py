"""The HTTP/1.1 client on requests: one exchange at a time, bounded in time and size, with a crawl's credentials."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

import requests
from msgspec.structs import replace
from requests.adapters import BaseAdapter

from crawler import clock, conf, encryption
from crawler.core.access.credentials import NOTHING as NO_CREDENTIALS
from crawler.core.access.credentials import Credentials
from crawler.core.crawl.messages import FetchPolicy
from crawler.core.crawl.options import WARC
from crawler.core.crawl.outcomes import Outcome, of_status
from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import normalise, origin_of
from crawler.http.body import Answer, Wish, body_of, receive
from crawler.http.connection import Kept, Trust, public_trust
from crawler.http.connector import Gateway, Route, connect, refusal
from crawler.http.errors import TROUBLE, OutOfTime, explain, one_line, outcome_of
from crawler.http.fetcher import (
    NOTHING,
    Fetched,
    Limits,
    Wants,
    is_html,
    media_type_of,
    nothing,
    parse_retry_after,
    text_of,
)
from crawler.http.guard import Guard
from crawler.http.memory_budget import Share, room
from crawler.http.request import Clock, Exchange, Headers, Outgoing
from crawler.http.response_parser import Reading
from crawler.http.warc_record import Recorded, RecordedReading

# An adapter for requests: HTTP/1.1 over guarded connections, one kept for each origin; no retries, no cookie jar.

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


LONGEST_VALIDATOR = 500  # characters of an ETag or Last-Modified worth keeping


class HttpFetcher:
    """A `Fetcher` that keeps one connection per host open. Not for sharing between threads.

    `credentials` go to `own_hosts` alone, as `core.access.credentials` gives them. With a `gateway` every request
    takes it. With `records` every answer has both heads as they were (`Fetched.recorded`).
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
        clock: Clock = time.monotonic,
        now: Clock = clock.epoch_seconds,
        trust: Trust = public_trust,
        records: bool = False,
    ) -> None:
        self._limits = limits or Limits()
        self._now = now
        self._gateway = gateway
        self._exchange = Exchange(self._limits, clock)
        self._exchange.records = records
        self._adapter = RoutedAdapter(Route(guard, self._exchange, gateway), self._exchange, trust)
        self._outgoing = Outgoing(user_agent, credentials, own_hosts)
        self._share: Share | None = None  # of the room for large bodies, while one is read

    def get(
        self,
        url: str,
        *,
        wants: Wants = is_html,
        truncate_at: int | None = None,
        max_bytes: int | None = None,
        headers: Mapping[str, str] = NOTHING,
        anonymous: bool = False,
    ) -> Fetched:
        return self._ask("GET", url, None, headers, Wish(wants, truncate_at, max_bytes), anonymous=anonymous)

    def head(self, url: str, *, anonymous: bool = False) -> Fetched:
        return self._ask("HEAD", url, None, NOTHING, _NO_BODY, anonymous=anonymous)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Fetched:
        """What came of sending `body`, without credentials; the answer's own body is not kept. Never sent twice."""
        sent = {**headers, "Content-Length": str(len(body))}
        return self._ask("POST", url, body, sent, _NO_BODY, anonymous=True)

    def serve(self, on_sent: Callable[[], None]) -> None:
        """From now on `on_sent` is called once for every request sent, right after its bytes were handed to the socket
        and before the answer is awaited: twice in one `get` when a kept connection turned out to be closed."""
        self._exchange.on_sent = on_sent

    def abort(self) -> None:
        """From another thread: the request under way, and any later one, raises `Aborted`."""
        self._exchange.abort()

    def close(self) -> None:
        self._adapter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], wish: Wish, *, anonymous: bool
    ) -> Fetched:
        address = normalise(url)
        if address is None:
            return Fetched(outcome=Outcome.MALFORMED, error=one_line(f"{url!r} is not a web address"))
        request = _prepared(method, address, body, self._outgoing.headers(address, headers, anonymous=anonymous))
        self._exchange.begin(address)
        fetched, sent = self._try(request, wish), int(self._exchange.sent)
        if method != "POST" and self._found_it_closed(fetched):
            self._exchange.begin_try()
            fetched, sent = self._try(request, wish), sent + int(self._exchange.sent)
        return replace(fetched, requests=sent, elapsed_ms=self._exchange.elapsed_ms())

    def _found_it_closed(self, fetched: Fetched) -> bool:
        """Whether a kept connection broke before a byte of the answer: the server had ended it meanwhile."""
        return fetched.outcome is Outcome.CONNECT and self._exchange.reused and self._exchange.received == 0

    def _try(self, request: requests.PreparedRequest, wish: Wish) -> Fetched:
        try:
            answer = self._adapter.send(request).raw
        except TROUBLE as error:
            self._exchange.check_aborted()
            stage = "within the headers" if self._exchange.received else "before an answer came"
            return Fetched(outcome=outcome_of(error), error=explain(error, stage))
        fetched = self._head_of(answer)
        if self._exchange.records:
            fetched = replace(fetched, recorded=self._recorded(request, answer))
        try:
            body = body_of(answer, fetched, wish, self._limits.max_body_bytes, self._make_room)
            return replace(fetched, body=body, share=self._share, bytes_read=answer.bytes_read)
        except TROUBLE as error:
            self._exchange.check_aborted()
            told = explain(error, "within the body")
            return replace(fetched, outcome=outcome_of(error), error=told, bytes_read=answer.bytes_read)
        finally:
            answer.close()
            self._share = None

    def _make_room(self, size: int) -> None:
        seconds = self._exchange.patience(self._limits.total_seconds)
        self._share = room.take(size, seconds)
        if self._share is None:
            raise OutOfTime(f"so many large pages arrive at a time that this one waited {seconds:.0f} seconds in vain")

    def _recorded(self, request: requests.PreparedRequest, answer: Answer) -> Recorded | None:
        url, origin = request.url or "", origin_of(request.url or "")
        host = origin[origin.index("//") + 2 :]
        return answer.recorded(
            request.method or "", url[len(origin) :], host, request.headers, self._outgoing.public_names
        )

    def _is_the_proxys(self, answer: Answer) -> bool:
        """To a request for a whole URL the proxy's own 407 comes in place of the host's answer."""
        return answer.status == 407 and self._exchange.url.startswith("http:")

    def _head_of(self, answer: Answer) -> Fetched:
        if self._gateway is not None and self._is_the_proxys(answer):
            refused = refusal(self._gateway.proxy, answer.status)
            return Fetched(outcome=refused.outcome, error=str(refused))
        content_type = answer.header(b"content-type")
        outcome = of_status(answer.status)
        unknown = f"the server answered with status {answer.status}" if outcome is Outcome.MALFORMED else ""
        return Fetched(
            outcome=outcome,
            http_status=answer.status,
            content_type=media_type_of(content_type),
            content_type_header=content_type,
            location=text_of(answer.header(b"location")),
            retry_after=parse_retry_after(answer.header(b"retry-after"), self._now()),
            etag=_validator(answer, b"etag"),
            last_modified=_validator(answer, b"last-modified"),
            robots_tags=tuple(map(text_of, answer.headers(b"x-robots-tag"))),
            headers=answer.head(),
            first_byte_ms=self._exchange.elapsed_ms(),
            error=unknown,
        )


_NO_BODY = Wish(nothing)


def _prepared(method: str, url: str, body: bytes | None, headers: Headers) -> requests.PreparedRequest:
    """Filled in by hand: `prepare` would take longer than the exchange and spell the URL its own way."""
    request = requests.PreparedRequest()
    request.method = method
    request.url = url
    request.headers = headers
    request.body = body
    return request


def _validator(answer: Answer, name: bytes) -> str:
    """A validator that a later request can carry; one that is garbled or endless is as good as none."""
    value = answer.header(name)
    return value if len(value) <= LONGEST_VALIDATOR and value.isprintable() else ""


# Gives the requests of a crawl what they need beside the URL: its credentials, its own hosts, its proxy.
#
# Apart from `equip`, so that a tick begins without the HTTP libraries.

SILENCE = 1 / 3  # of the time a request may take: so long it may wait for the next byte


def fetcher_for(policy: FetchPolicy, guard: Guard, seconds: float | None = None) -> HttpFetcher:
    """A fetcher for one host, each of whose requests may take so many seconds, or as many as the settings say.
    SealBroken when this process has another SECRET_KEY than the one that sealed."""
    credentials = encryption.opened(policy.sealed)
    total = conf.page_seconds() if seconds is None else seconds
    return HttpFetcher(
        guard,
        policy.user_agent,
        Limits(
            max_body_bytes=policy.max_body_bytes,
            total_seconds=total,
            read_seconds=min(total, conf.page_seconds() * SILENCE),
        ),
        credentials=credentials,
        own_hosts=policy.own_hosts,
        gateway=gateway_of(credentials.proxy, guard),
        records=WARC in policy.keep,
    )


def gateway_of(proxy: str | None, guard: Guard) -> Gateway | None:
    """The crawl's own proxy, which must be allowed like any other address; else the operator's, which always is."""
    if proxy is not None:
        return Gateway(Proxy.parse(proxy), guard)
    operators = conf.proxy()
    return Gateway(operators, Guard((operators.where,))) if operators is not None else None
