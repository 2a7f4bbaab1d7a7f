"""Fetching over HTTP/1.1 with requests: one exchange at a time, bounded in time and size, whatever the server does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import requests
from msgspec.structs import replace
from urllib3 import HTTPResponse

from crawler.core.credentials import NOTHING as NO_CREDENTIALS
from crawler.core.credentials import Credentials
from crawler.core.outcomes import Outcome, of_status
from crawler.core.urls import normalise
from crawler.fetching import encodings
from crawler.fetching.connections import BUFFER, RoutedAdapter, Trust, public_trust
from crawler.fetching.exchange import Clock, Exchange
from crawler.fetching.fetcher import NOTHING, Fetched, Limits, Wants, is_html, nothing
from crawler.fetching.guard import Guard
from crawler.fetching.headers import media_type_of, parse_retry_after, text_of
from crawler.fetching.outgoing import Headers, Outgoing
from crawler.fetching.routes import Gateway, Route, refusal
from crawler.fetching.trouble import TROUBLE, BodyTooLarge, NotHttp, explain, one_line, outcome_of

WORTH_DRAINING = 64 * 1024  # bytes of an unwanted body that cost less to read than a new connection
LONGEST_VALIDATOR = 500  # characters of an ETag or Last-Modified worth keeping
SNIFFED = 1445  # bytes looked at for a missing media type; what browsers look at
_BLANK = b" \t\r\n\f\0"  # with the zeroes of UTF-16
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the caller wants of the body."""

    wants: Wants
    truncate_at: int | None = None
    max_bytes: int | None = None


class HttpFetcher:
    """A `Fetcher` that keeps one connection per host open. Not for sharing between threads.

    `on_sent` is called once for every request sent, right after its bytes were handed to the socket and before the
    answer is awaited: twice in one `get` when a kept connection turned out to be closed.
    `credentials` go to `own_hosts` alone, as `core.belonging` gives them. With a `gateway` every request takes it.
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
        on_sent: Callable[[], None] | None = None,
        clock: Clock = time.monotonic,
        now: Clock = time.time,
        trust: Trust = public_trust,
    ) -> None:
        self._limits = limits or Limits()
        self._now = now
        self._gateway = gateway
        self._exchange = Exchange(self._limits, clock, on_sent)
        self._adapter = RoutedAdapter(Route(guard, self._exchange, gateway), self._exchange, trust)
        self._outgoing = Outgoing(user_agent, credentials, own_hosts)

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
        return self._ask("GET", url, None, headers, _Wish(wants, truncate_at, max_bytes), anonymous=anonymous)

    def head(self, url: str, *, anonymous: bool = False) -> Fetched:
        return self._ask("HEAD", url, None, NOTHING, _NO_BODY, anonymous=anonymous)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Fetched:
        """What came of sending `body`, without credentials; the answer's own body is not kept. Never sent twice."""
        sent = {**headers, "Content-Length": str(len(body))}
        return self._ask("POST", url, body, sent, _NO_BODY, anonymous=True)

    def close(self) -> None:
        self._adapter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], wish: _Wish, *, anonymous: bool
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

    def _try(self, request: requests.PreparedRequest, wish: _Wish) -> Fetched:
        waits = (self._limits.connect_seconds, self._limits.read_seconds)
        try:
            response: HTTPResponse = self._adapter.send(request, stream=True, timeout=waits).raw
        except TROUBLE as error:
            return Fetched(outcome=outcome_of(error), error=explain(error))
        fetched = self._head_of(response)
        try:
            body = self._body_of(response, fetched, wish)
            return replace(fetched, body=body, bytes_read=response.tell())
        except TROUBLE as error:
            return replace(fetched, outcome=outcome_of(error), error=explain(error), bytes_read=response.tell())
        finally:
            response.close()  # a body read to its end has given its connection back already

    def _is_the_proxys(self, response: HTTPResponse) -> bool:
        """To a request for a whole URL the proxy's own 407 comes in place of the host's answer."""
        return response.status == 407 and self._exchange.url.startswith("http:")

    def _head_of(self, response: HTTPResponse) -> Fetched:
        if self._gateway is not None and self._is_the_proxys(response):
            refused = refusal(self._gateway.proxy, response.status)
            return Fetched(outcome=refused.outcome, error=str(refused))
        content_type = _first(response, "content-type")
        outcome = of_status(response.status)
        unknown = f"the server answered with status {response.status}" if outcome is Outcome.MALFORMED else ""
        return Fetched(
            outcome=outcome,
            http_status=response.status,
            content_type=media_type_of(content_type),
            content_type_header=content_type,
            location=text_of(_first(response, "location")),
            retry_after=parse_retry_after(_first(response, "retry-after"), self._now()),
            etag=_validator(response, "etag"),
            last_modified=_validator(response, "last-modified"),
            robots_tags=tuple(map(text_of, _all(response, "x-robots-tag"))),
            error=unknown,
        )

    def _body_of(self, response: HTTPResponse, fetched: Fetched, wish: _Wish) -> bytes:
        """The wanted body, or nothing. A redirect is complete without its body, even with a broken one."""
        if fetched.outcome is Outcome.MALFORMED or fetched.http_status is None:
            return b""
        if fetched.outcome is Outcome.REDIRECT or not _may_be_wanted(fetched, wish):
            _drain(response)
            return b""
        _check_framing(response)
        pieces = encodings.decoded(self._wire(response, wish), response.headers.get("content-encoding", ""))
        if not fetched.content_type and not wish.wants(""):
            pieces = _html_only(pieces)
        return self._collected(pieces, wish)

    def _wire(self, response: HTTPResponse, wish: _Wish) -> Iterator[bytes]:
        """The body as it comes, in pieces no larger than the buffer; it raises when there are more than allowed."""
        limit = self._allowed(wish)
        if wish.truncate_at is None and (response.length_remaining or 0) > limit:
            raise BodyTooLarge(f"the body is {response.length_remaining} bytes, more than the {limit} allowed")
        while piece := response.read1(BUFFER, decode_content=False):
            yield piece
            if response.tell() > limit:
                raise BodyTooLarge(f"the body is larger than {limit} bytes")

    def _collected(self, pieces: Iterator[bytes], wish: _Wish) -> bytes:
        body, limit = bytearray(), self._allowed(wish)
        for piece in pieces:
            body += piece
            if wish.truncate_at is not None and len(body) >= wish.truncate_at:
                return bytes(body[: wish.truncate_at])
            if len(body) > limit:
                raise BodyTooLarge(f"the decoded body is larger than {limit} bytes")
        return bytes(body)

    def _allowed(self, wish: _Wish) -> int:
        limit = self._limits.max_body_bytes if wish.max_bytes is None else wish.max_bytes
        return max(limit, wish.truncate_at or 0)


_NO_BODY = _Wish(nothing)


def _prepared(method: str, url: str, body: bytes | None, headers: Headers) -> requests.PreparedRequest:
    """Filled in by hand: `prepare` would take longer than the exchange and spell the URL its own way."""
    request = requests.PreparedRequest()
    request.method = method
    request.url = url
    request.headers = headers
    request.body = body
    return request


def _all(response: HTTPResponse, name: str) -> list[str]:
    headers = response.headers
    return headers.getlist(name) if name in headers else []  # a third of the time `getlist` takes to find nothing


def _first(response: HTTPResponse, name: str) -> str:
    values = _all(response, name)
    return values[0].strip() if values else ""


def _validator(response: HTTPResponse, name: str) -> str:
    """A validator that a later request can carry; one that is garbled or endless is as good as none."""
    value = _first(response, name)
    return value if len(value) <= LONGEST_VALIDATOR and value.isprintable() else ""


def _may_be_wanted(fetched: Fetched, wish: _Wish) -> bool:
    return wish.wants(fetched.content_type) or (not fetched.content_type and wish.wants("text/html"))


def _drain(response: HTTPResponse) -> None:
    """Read a small unwanted body so that its connection can be used again; a large one is hung up on."""
    length = response.length_remaining
    if (length is None and not response.chunked) or (length or 0) > WORTH_DRAINING:
        return
    try:
        while response.tell() <= WORTH_DRAINING and response.read1(BUFFER, decode_content=False):
            pass
    except TROUBLE:
        return  # the status has arrived and is what was asked for; our caller closes the connection


def _check_framing(response: HTTPResponse) -> None:
    """Refuse a transfer coding other than chunked (RFC 9112, 6.1): we announced none, and http.client reads none."""
    coding = response.headers.get("transfer-encoding", "").lower()
    if coding not in ("", "chunked", "identity"):
        raise NotHttp(f"the transfer coding {coding!r} was not asked for")


def _html_only(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces if the first that is not blank begins like a tag; otherwise none."""
    seen = b""
    for piece in pieces:
        seen += piece
        start = _without_mark(seen[:SNIFFED]).lstrip(_BLANK)
        if start.startswith(b"<"):
            yield seen
            yield from pieces
        if start or len(seen) >= SNIFFED:
            return


def _without_mark(text: bytes) -> bytes:
    return next((text[len(mark) :] for mark in _BYTE_ORDER_MARKS if text.startswith(mark)), text)
