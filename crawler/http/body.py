"""A response whose body is read as it arrives, within the limits of the request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from crawler.core.pages.outcomes import Outcome
from crawler.http import encodings
from crawler.http.errors import FETCH_ERRORS, BodyTooLarge, InvalidResponse
from crawler.http.fetcher import FetchResult, Wants
from crawler.http.memory_budget import LARGE_BODY
from crawler.http.response_parser import ResponseParser
from crawler.http.warc_record import ExchangeHeads, RecordingParser, recorded

MAX_HEAD = 8000  # characters of the headers that are stored to be shown


class Source(Protocol):
    """Where the bytes of a response come from."""

    def receive(self) -> bytes:
        """The next bytes, as soon as there are any; b"" if the server has closed the connection."""
        ...

    def close(self) -> None: ...


S = TypeVar("S", bound=Source)


class BodyStream(Protocol):
    """A response whose head is complete; the `raw` of our `requests.Response`."""

    status: int
    bytes_read: int  # of the body on the wire, without chunk framing

    def header(self, name: bytes) -> str:
        """The first header of this name (in lower case) or ""; as Latin-1, whatever its bytes mean."""
        ...

    def headers(self, name: bytes) -> list[str]:
        """All headers of this name; trailing blanks are not removed."""
        ...

    def head(self) -> str:
        """The headers as received, one per line, as Latin-1; at most MAX_HEAD characters."""
        ...

    def recorded(
        self, method: str, target: str, host: str, sent: Mapping[str, str], public: Collection[str]
    ) -> ExchangeHeads | None:
        """Both heads of the exchange, see `recorded`; None unless they are recorded."""
        ...

    def length(self) -> int | None:
        """The announced bytes of the body, before any was read; None if they are not announced."""
        ...

    def is_chunked(self) -> bool: ...

    def read(self) -> bytes:
        """The next piece of the body, no larger than the connection's buffer; b"" at its end. Raises `FETCH_ERRORS`."""
        ...

    def close(self) -> None:
        """Return the connection to the pool if the response was read to its end; else close it."""
        ...


class ResponseStream:
    """A `BodyStream` over what a parser makes of the bytes of a source."""

    def __init__(self, parser: ResponseParser, connection: S, keep: Callable[[S], None]) -> None:
        self.status = parser.status
        self.bytes_read = 0  # of the body on the wire, without chunk framing
        self._parser = parser
        self._connection: Source = connection
        self._is_open = True
        self._keep = partial(keep, connection)

    def header(self, name: bytes) -> str:
        value = self._parser.first.get(name)
        return value.decode("latin-1").strip() if value else ""

    def headers(self, name: bytes) -> list[str]:
        if name not in self._parser.first:
            return []
        return [value.decode("latin-1") for known, value in self._parser.fields if known.lower() == name]

    def head(self) -> str:
        return b"\n".join([name + b": " + value for name, value in self._parser.fields]).decode("latin-1")[:MAX_HEAD]

    def recorded(
        self, method: str, target: str, host: str, sent: Mapping[str, str], public: Collection[str]
    ) -> ExchangeHeads | None:
        parser = self._parser
        if not isinstance(parser, RecordingParser):
            return None
        return recorded(method, target, host, sent, public, parser.status_line, parser.fields)

    def length(self) -> int | None:
        if self._parser.is_complete and not self._parser.pieces:
            return 0
        announced = self._parser.first.get(b"content-length")
        if announced is None:
            return None
        return int(announced.lstrip(b"0") or b"0")  # Python converts at most 4300 digits, leading zeros included

    def is_chunked(self) -> bool:
        return self._parser.is_chunked()

    def read(self) -> bytes:
        parser = self._parser
        while not parser.pieces and not parser.is_complete:
            self._advance()
        piece = parser.pieces[0] if len(parser.pieces) == 1 else b"".join(parser.pieces)
        parser.pieces.clear()
        self.bytes_read += len(piece)
        return piece

    def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        if self._parser.is_reusable() and not self._parser.pieces:
            self._keep()
        else:
            self._connection.close()
        self._parser.release()

    def _advance(self) -> None:
        if self._parser.broken is not None:
            raise self._parser.broken
        receive(self._connection, self._parser)


def receive(connection: Source, parser: ResponseParser) -> None:
    """Pass the next bytes to the parser, or the end of the connection."""
    data = connection.receive()
    if data:
        parser.feed(data)
    else:
        parser.end()


MAX_DRAIN_BYTES = 64 * 1024  # an unwanted body up to this size is cheaper to read than a new connection
SNIFF_BYTES = 1445  # examined if the media type is missing; as browsers do
OnLarge = Callable[[int], None]
"""Called once, with the limit, when a body turns out to be large; it may wait, or raise `FETCH_ERRORS`."""

_BLANK = b" \t\r\n\f\0"  # and the zero bytes of UTF-16
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class BodyPolicy(msgspec.Struct, frozen=True):
    """Which bodies the caller wants, and how much of them."""

    wants: Wants
    truncate_at: int | None = None

    def may_be_for(self, media_type: str) -> bool:
        return self.wants(media_type) or (not media_type and self.wants("text/html"))

    def allowed(self, default_limit: int) -> int:
        """How many bytes may be read, on the wire as well as decoded."""
        return max(default_limit, self.truncate_at or 0)


def body_of(
    response: BodyStream, fetched: FetchResult, body_policy: BodyPolicy, default_limit: int, on_large: OnLarge
) -> bytes:
    """The wanted body, or nothing; `default_limit` applies where the policy has no limit. Raises `FETCH_ERRORS`.

    A redirect is complete without its body, even with a broken one.
    """
    if fetched.outcome is Outcome.MALFORMED or fetched.http_status is None:
        return b""
    if fetched.outcome is Outcome.REDIRECT or not body_policy.may_be_for(fetched.content_type):
        _drain(response)
        return b""
    _check_coding(response)
    limit = body_policy.allowed(default_limit)
    pieces = encodings.decoded(_wire(response, body_policy, limit), ", ".join(response.headers(b"content-encoding")))
    if not fetched.content_type and not body_policy.wants(""):
        pieces = _html_only(pieces)
    return _collected(pieces, body_policy, limit, on_large)


def _drain(response: BodyStream) -> None:
    """Read a small unwanted body so that its connection can be reused; a large one is left unread."""
    length = response.length()
    if (length is None and not response.is_chunked()) or (length or 0) > MAX_DRAIN_BYTES:
        return
    try:
        while response.bytes_read <= MAX_DRAIN_BYTES and response.read():
            pass
    except FETCH_ERRORS:
        return  # the status, which was requested, has arrived; the caller closes the connection


def _check_coding(response: BodyStream) -> None:
    """Refuse a transfer coding other than chunked (RFC 9112, 6.1): no other was announced."""
    coding = ", ".join(response.headers(b"transfer-encoding")).lower()
    if coding not in ("", "chunked", "identity"):
        raise InvalidResponse(f"the transfer coding {coding!r} was not requested")


def _wire(response: BodyStream, body_policy: BodyPolicy, limit: int) -> Iterator[bytes]:
    """The body as it arrives, in pieces no larger than the buffer. Raises BodyTooLarge beyond the limit."""
    length = response.length()
    if body_policy.truncate_at is None and length is not None and length > limit:
        raise BodyTooLarge(f"the body is {length} bytes, more than the {limit} allowed")
    while piece := response.read():
        yield piece
        if response.bytes_read > limit:
            raise BodyTooLarge(f"the body is larger than {limit} bytes")


def _collected(pieces: Iterator[bytes], body_policy: BodyPolicy, limit: int, on_large: OnLarge) -> bytes:
    body: bytes | bytearray = b""  # most bodies are one piece, which is not copied
    for piece in pieces:
        if len(body) <= LARGE_BODY < len(body) + len(piece):
            on_large(limit)
        body = piece if not body else _joined(body, piece)
        if body_policy.truncate_at is not None and len(body) >= body_policy.truncate_at:
            return bytes(body[: body_policy.truncate_at])
        if len(body) > limit:
            raise BodyTooLarge(f"the decoded body is larger than {limit} bytes")
    return bytes(body)


def _joined(body: bytes | bytearray, piece: bytes) -> bytearray:
    grown = body if isinstance(body, bytearray) else bytearray(body)
    grown += piece
    return grown


def _html_only(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces if the first text that is not blank begins like a tag; otherwise none."""
    seen = b""
    for piece in pieces:
        seen += piece
        start = _without_mark(seen[:SNIFF_BYTES]).lstrip(_BLANK)
        if start.startswith(b"<"):
            yield seen
            yield from pieces
        if start or len(seen) >= SNIFF_BYTES:
            return


def _without_mark(text: bytes) -> bytes:
    return next((text[len(mark) :] for mark in _BYTE_ORDER_MARKS if text.startswith(mark)), text)
