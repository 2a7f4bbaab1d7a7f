"""A server's answer: its head, and a body that is read as it comes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from crawler.core.crawl.outcomes import Outcome
from crawler.http import encodings
from crawler.http.connection import Connection
from crawler.http.errors import TROUBLE, BodyTooLarge, NotHttp
from crawler.http.fetcher import Fetched, Wants
from crawler.http.memory_budget import LARGE_BODY
from crawler.http.response_parser import Reading
from crawler.http.warc_record import Recorded, RecordedReading, recorded

MAX_HEAD = 8000  # characters of an answer's headers that are kept for people


class Answer:
    """What `requests.Response.raw` is with us. Made when its head is complete."""

    def __init__(self, reading: Reading, connection: Connection, keep: Callable[[Connection], None]) -> None:
        self.status = reading.status
        self.bytes_read = 0  # of the body, as they came over the wire without the framing
        self._reading = reading
        self._connection = connection
        self._is_open = True
        self._keep = keep

    def header(self, name: bytes) -> str:
        """The first header of this name (in lower case) or ""; as Latin-1, whatever its bytes mean."""
        value = self._reading.first.get(name)
        return value.decode("latin-1").strip() if value else ""

    def headers(self, name: bytes) -> list[str]:
        """All of this name; trailing blanks, which are no part of them, are still there."""
        if name not in self._reading.first:
            return []
        return [value.decode("latin-1") for known, value in self._reading.fields if known.lower() == name]

    def head(self) -> str:
        """Its headers as they came, one a line, as Latin-1; at most MAX_HEAD characters."""
        return b"\n".join([name + b": " + value for name, value in self._reading.fields]).decode("latin-1")[:MAX_HEAD]

    def recorded(
        self, method: str, target: str, host: str, sent: Mapping[str, str], public: Collection[str]
    ) -> Recorded | None:
        """Both heads of the exchange, see `recorded`; None unless they were to be kept."""
        reading = self._reading
        return recorded(method, target, host, sent, public, reading) if isinstance(reading, RecordedReading) else None

    def length(self) -> int | None:
        """Bytes of the body as announced, before any was read; None when only its end will tell."""
        if self._reading.is_complete and not self._reading.pieces:
            return 0
        announced = self._reading.first.get(b"content-length")
        if announced is None:
            return None
        return int(announced.lstrip(b"0") or b"0")  # Python converts 4300 digits at most, and counts leading zeros

    def is_chunked(self) -> bool:
        return self._reading.is_chunked()

    def read(self) -> bytes:
        """The next piece of the body, no larger than the connection's buffer; b"" at its end. Raises `TROUBLE`."""
        reading = self._reading
        while not reading.pieces and not reading.is_complete:
            self._advance()
        piece = reading.pieces[0] if len(reading.pieces) == 1 else b"".join(reading.pieces)
        reading.pieces.clear()
        self.bytes_read += len(piece)
        return piece

    def close(self) -> None:
        """Give the connection back if the answer was read to its end, and else hang up."""
        if not self._is_open:
            return
        self._is_open = False
        if self._reading.is_reusable() and not self._reading.pieces:
            self._keep(self._connection)
        else:
            self._connection.close()
        self._reading.let_go()

    def _advance(self) -> None:
        if self._reading.broken is not None:
            raise self._reading.broken
        receive(self._connection, self._reading)


def receive(connection: Connection, reading: Reading) -> None:
    """Hand what arrives next to the reading, or that nothing will."""
    data = connection.receive()
    if data:
        reading.feed(data)
    else:
        reading.end()


# The body of an answer: whether it is worth reading, and how much of it may be read.

WORTH_DRAINING = 64 * 1024  # bytes of an unwanted body that cost less to read than a new connection
SNIFFED = 1445  # bytes looked at for a missing media type; what browsers look at
OnLarge = Callable[[int], None]
"""Is called once, with the limit, when a body turns out to be large; it may wait, or raise `TROUBLE`."""

_BLANK = b" \t\r\n\f\0"  # with the zeroes of UTF-16
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller wants of the body."""

    wants: Wants
    truncate_at: int | None = None
    max_bytes: int | None = None

    def may_be_for(self, media_type: str) -> bool:
        return self.wants(media_type) or (not media_type and self.wants("text/html"))

    def allowed(self, usual: int) -> int:
        """How many bytes may be read, on the wire as well as decoded."""
        return max(usual if self.max_bytes is None else self.max_bytes, self.truncate_at or 0)


def body_of(answer: Answer, fetched: Fetched, wish: Wish, usual: int, on_large: OnLarge) -> bytes:
    """The wanted body, or nothing; `usual` is the limit where the wish has none. Raises `TROUBLE`.

    A redirect is complete without its body, even with a broken one.
    """
    if fetched.outcome is Outcome.MALFORMED or fetched.http_status is None:
        return b""
    if fetched.outcome is Outcome.REDIRECT or not wish.may_be_for(fetched.content_type):
        _drain(answer)
        return b""
    _check_coding(answer)
    limit = wish.allowed(usual)
    pieces = encodings.decoded(_wire(answer, wish, limit), ", ".join(answer.headers(b"content-encoding")))
    if not fetched.content_type and not wish.wants(""):
        pieces = _html_only(pieces)
    return _collected(pieces, wish, limit, on_large)


def _drain(answer: Answer) -> None:
    """Read a small unwanted body so that its connection can be used again; a large one is hung up on."""
    length = answer.length()
    if (length is None and not answer.is_chunked()) or (length or 0) > WORTH_DRAINING:
        return
    try:
        while answer.bytes_read <= WORTH_DRAINING and answer.read():
            pass
    except TROUBLE:
        return  # the status has arrived and is what was asked for; our caller closes the connection


def _check_coding(answer: Answer) -> None:
    """Refuse a transfer coding other than chunked (RFC 9112, 6.1): we announced none."""
    coding = ", ".join(answer.headers(b"transfer-encoding")).lower()
    if coding not in ("", "chunked", "identity"):
        raise NotHttp(f"the transfer coding {coding!r} was not asked for")


def _wire(answer: Answer, wish: Wish, limit: int) -> Iterator[bytes]:
    """The body as it comes, in pieces no larger than the buffer; it raises when there are more than allowed."""
    length = answer.length()
    if wish.truncate_at is None and length is not None and length > limit:
        raise BodyTooLarge(f"the body is {length} bytes, more than the {limit} allowed")
    while piece := answer.read():
        yield piece
        if answer.bytes_read > limit:
            raise BodyTooLarge(f"the body is larger than {limit} bytes")


def _collected(pieces: Iterator[bytes], wish: Wish, limit: int, on_large: OnLarge) -> bytes:
    body: bytes | bytearray = b""  # most bodies are one piece, which need not be copied
    for piece in pieces:
        if len(body) <= LARGE_BODY < len(body) + len(piece):
            on_large(limit)
        body = piece if not body else _joined(body, piece)
        if wish.truncate_at is not None and len(body) >= wish.truncate_at:
            return bytes(body[: wish.truncate_at])
        if len(body) > limit:
            raise BodyTooLarge(f"the decoded body is larger than {limit} bytes")
    return bytes(body)


def _joined(body: bytes | bytearray, piece: bytes) -> bytearray:
    grown = body if isinstance(body, bytearray) else bytearray(body)
    grown += piece
    return grown


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
