"""Parses a response from the bytes that have arrived: its head, the bytes of its body, and its end.

llhttp parses strictly: a head it refuses is repaired (`repaired`) and parsed again; an invalid body is an error. So
only one parser decides where a message ends. This module does not use sockets.
"""

from __future__ import annotations

import re

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from crawler.http.errors import ConnectionClosed, FetchError, HeadTooLarge, InvalidResponse

_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9])[ \t]+([0-9]{3})(?:[ \t][^\n]*)?\r?", re.IGNORECASE)
_FIELD_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_CONTROLS = bytes(byte for byte in range(256) if byte < 32 or byte == 127)
_CONTROLS_TO_BLANKS = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))
_LENGTH, _CODING = b"content-length", b"transfer-encoding"

Field = tuple[bytes, bytes]
"""A header's name and value."""


def repaired(head: bytes) -> bytes:
    """The head, which browsers accept and a strict parser refuses, in the grammar of RFC 9112. Raises InvalidResponse.

    1. The status line is rewritten in capitals, with single blanks and without the reason.
    2. A folded line continues the one before it; after the status line it is dropped.
    3. Lines without a colon, and those with an invalid name, are dropped.
    4. Control characters in a value, including NUL and a bare CR, become blanks.
    5. The headers that define the end of the body become one, see `_framing`.
    """
    first, *rest = head.split(b"\n")
    fields = [field for line in _unfolded(rest) if (field := _field(line)) is not None]
    others = [field for field in fields if field[0].lower() not in (_LENGTH, _CODING)]
    lines = [name + b": " + value for name, value in (*others, *_framing(fields))]
    return b"\r\n".join([_status_line(first), *lines, b"", b""])


def check_status_line(head: bytes, start: int) -> None:
    """Raise InvalidResponse if the line there is complete and not a status line, without waiting for more."""
    end = head.find(b"\n", start)
    if end >= 0:
        _status_line(head[start:end])


def _status_line(line: bytes) -> bytes:
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise InvalidResponse(f"the status line is {line[:60].decode('latin-1').strip()!r}")
    return b"HTTP/1.%d %s" % (match[1] != b"0", match[2])


def _unfolded(lines: list[bytes]) -> list[bytes]:
    whole: list[bytes] = []
    for line in lines:
        if line[:1] not in (b" ", b"\t"):
            whole.append(line)
        elif whole:
            whole[-1] = whole[-1].rstrip() + b" " + line.strip()
    return whole


def _field(line: bytes) -> Field | None:
    name, colon, value = line.partition(b":")
    if colon and _FIELD_NAME.fullmatch(name):
        return name, value.translate(_CONTROLS_TO_BLANKS).strip()
    if name.strip().lower() in (_LENGTH, _CODING):
        raise InvalidResponse("the header that defines the length of the body is invalid")
    return None


def _framing(fields: list[Field]) -> list[Field]:
    """The header that defines the end of the body, without ambiguity (RFC 9112, 6.3).

    Equal lengths count once; one that is not a number is ignored. A transfer coding overrides them, as in browsers; but
    a server that sent both may mean another end, so the connection is not reused.
    """
    lengths = {part.strip() for part in _values(fields, _LENGTH)}
    codings = [part.strip() for part in _values(fields, _CODING) if part.strip().lower() != b"identity"]
    if len(lengths) > 1:
        raise InvalidResponse("the Content-Length headers contradict each other")
    if codings:
        coding = (b"Transfer-Encoding", b", ".join(codings))
        return [coding, (b"Connection", b"close")] if lengths else [coding]
    return [(b"Content-Length", length) for length in lengths if length.isdigit()]


def _values(fields: list[Field], name: bytes) -> list[bytes]:
    return [part for known, value in fields if known.lower() == name for part in value.split(b",")]


MAX_HEADERS = 100
FRAMING_BYTES_PER_BODY_BYTE = 16  # allowed; chunks of one byte need 5, or 12 if the size has 8 digits
_BEGINNING = b"HTTP/1."  # llhttp also accepts HTTP/2.0, RTSP/ and ICE/
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LINE_ENDS = re.compile(rb"[\r\n]*")


class _ExtraData(Exception):
    """Data follows the message; raised to stop the parser."""


class ResponseParser:
    """The final response of one exchange; interim responses are skipped (RFC 9110, 15.2).

    Call `feed` with what arrives until it `is_complete` or `broken`, and take the `pieces` each time; call `end` if the
    connection ends before. 101 is final: no upgrade was requested, and what follows is not HTTP.
    """

    def __init__(self, max_head_bytes: int, *, bodiless: bool = False) -> None:
        self.status = 0  # of the final response; 0 until its head is complete
        self.fields: list[tuple[bytes, bytes]] = []  # its headers as sent
        self.first: dict[bytes, bytes] = {}  # the first header of each name, in lower case
        self.pieces: list[bytes] = []  # of the body, without the framing; the reader removes them
        self.is_complete = False
        self.broken: FetchError | None = None  # why the rest of the body cannot be read
        self._limit = max_head_bytes
        self._bodiless = bodiless  # a response to HEAD has no body, whatever its headers say
        self._arrived = b""  # everything until the head is complete
        self._heads = 0  # number of complete heads
        self._refused = False  # llhttp refused a head
        self._repaired_to = 0  # where in `_arrived` the next head to repair begins
        self._searched_to = 0  # how far its end was searched for; avoids quadratic time
        self._begins_at = 0  # where in `_arrived` the first line may begin
        self._keeps_alive = False
        self._is_clean = True  # no data follows the message
        self._awaits_chunk = False  # a chunk has begun, perhaps the last, without data so far
        self._allowance = max_head_bytes  # bytes allowed between the pieces of the body; grows with the body
        self._parser = self._new_parser()

    def feed(self, data: bytes) -> None:
        """Raises InvalidResponse and HeadTooLarge while the head is not complete; a body that fails is `broken`."""
        if not self.status:
            self._feed_head(data)
            return
        self._parse(data)
        body = sum(map(len, self.pieces))
        self._allowance = min(self._limit, self._allowance + body * FRAMING_BYTES_PER_BODY_BYTE - (len(data) - body))
        if self._allowance < 0 and not self.is_complete:
            self.broken = HeadTooLarge("the chunk framing is larger than the body allows")

    def end(self) -> None:
        """The server has closed the connection. Raises as `feed` does."""
        self._is_clean = False
        if not self.status:
            self._end_head()
        if self.is_chunked():
            self._end_chunks()
        elif b"content-length" not in self.first:
            self.is_complete = True
        if not self.is_complete:
            self.broken = InvalidResponse("the connection ended before the body did")

    def is_chunked(self) -> bool:
        return self.first.get(b"transfer-encoding", b"").rstrip().lower().endswith(b"chunked")

    def is_reusable(self) -> bool:
        """Whether the connection can be used for another exchange."""
        return self.is_complete and self._is_clean and self._keeps_alive

    def release(self) -> None:
        """Delete llhttp's parser, whose reference to this object forms a cycle."""
        del self._parser

    # Callbacks of llhttp; it wraps what they raise in HttpParserCallbackError.

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise _ExtraData

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.status:  # else it is a trailer
            self.fields.append((name, value))

    def on_headers_complete(self) -> None:
        self._heads += 1
        status = self._parser.get_status_code()
        if 100 <= status <= 199 and status != 101:
            self.fields.clear()
            return
        if status < 100:
            raise InvalidResponse(f"{status} is not a valid status")
        self.status = status
        self.first = {name.lower(): value for name, value in reversed(self.fields)}
        self._keeps_alive = status != 101 and (
            self._parser.should_keep_alive() or (self._bodiless and self._is_persistent())
        )
        self.is_complete = self._bodiless

    def on_chunk_header(self) -> None:
        self._awaits_chunk = True

    def on_body(self, data: bytes) -> None:
        if self._bodiless:
            raise _ExtraData
        self._awaits_chunk = False
        self.pieces.append(data)

    def on_message_complete(self) -> None:
        self.is_complete = self.status != 0

    def _new_parser(self) -> HttpResponseParser:
        parser = HttpResponseParser(self)
        parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True,  # in the head; RFC 9112, 2.2
            lenient_spaces_after_chunk_size=True,
            lenient_keep_alive=True,  # else no response could follow an interim one with "Connection: close"
        )
        return parser

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._is_clean = False
        except HttpParserError as error:
            inner = error.__context__
            if isinstance(error, HttpParserCallbackError) and inner is not None and not isinstance(inner, _ExtraData):
                raise inner from None  # such as RQ's job timeout, which may occur here too
            self._handle_error(str(error))

    def _handle_error(self, reason: str) -> None:
        if self.is_complete:
            self._is_clean = False
        elif self._awaits_chunk:  # these are invalid trailers, which are ignored
            self.is_complete, self._is_clean = True, False
        elif self.status:
            self.broken = InvalidResponse(f"the body cannot be read: {reason}")
        elif self._refused:
            raise InvalidResponse(f"the headers cannot be read: {reason}")
        else:
            self._refused, self._parser = True, self._new_parser()
            self._heads = 0
            self.fields.clear()

    def _feed_head(self, data: bytes) -> None:
        self._arrived += data
        if not self._arrived.startswith(_BEGINNING):
            self._check_beginning()
        if self._refused or not self._is_taken(data):
            self._read_repaired()
        if len(self.fields) > MAX_HEADERS:
            raise HeadTooLarge(f"the response has more than {MAX_HEADERS} headers")
        if len(self._arrived) > self._limit and (not self.status or self._head_size() > self._limit):
            raise HeadTooLarge(f"the headers are larger than {self._limit} bytes")
        if self._bodiless and self.status and not self._arrived.endswith((b"\n\r\n", b"\n\n")):
            self._is_clean = False
        if self.status:
            self._arrived = b""

    def _check_beginning(self, *, is_all: bool = False) -> None:
        """Raise InvalidResponse once the first line is complete, or `is_all`, and does not begin with HTTP/1."""
        self._begins_at = at = _first_line_at(self._arrived, self._begins_at)
        line, end, _ = self._arrived[at:].partition(b"\n")
        if (end or is_all) and not _BEGINNING.startswith(line[: len(_BEGINNING)].upper()):
            raise InvalidResponse(f"the response is not HTTP/1; it begins with {line[:60].decode('latin-1')!r}")

    def _is_taken(self, data: bytes) -> bool:
        self._parse(data)
        return not self._refused

    def _read_repaired(self) -> None:
        """Pass each complete head to llhttp as `repaired` gives it, then what follows the last."""
        while not self.status:
            start = _first_line_at(self._arrived, self._repaired_to)
            check_status_line(self._arrived, start)
            end = _BLANK_LINE.search(self._arrived, max(start, self._searched_to))
            if end is None:
                self._searched_to = max(0, len(self._arrived) - 2)  # the blank line may have begun
                return
            self._repaired_to = end.end()
            self._parse(repaired(self._arrived[start : self._repaired_to]))
        self._parse(self._arrived[self._repaired_to :])

    def _end_head(self) -> None:
        if not self._arrived:
            raise ConnectionClosed("the server closed the connection without a response")
        self._check_beginning(is_all=True)
        raise InvalidResponse("the connection ended within the headers")

    def _head_size(self) -> int:
        """Bytes of all heads together, if they arrived together with some of the body."""
        size = 0
        for _ in range(self._heads):
            end = _BLANK_LINE.search(self._arrived, _first_line_at(self._arrived, size))
            size = end.end() if end else size
        return size

    def _end_chunks(self) -> None:
        """Accept a connection closed right after the last chunk, without the empty line: test whether it was the
        last."""
        if self._awaits_chunk and not self.is_complete:
            self._parse(b"\r\n\r\n")
            if not self.is_complete:  # it was not: these bytes became data
                self.pieces.clear()

    def _is_persistent(self) -> bool:
        """Whether the connection persists: llhttp does not know that there is no body, and expects it to close."""
        said = b",".join(value for name, value in self.fields if name.lower() == b"connection").lower()
        return self._parser.get_http_version() == "1.1" and b"close" not in said


def _first_line_at(data: bytes, start: int) -> int:
    """Where the first line that is not blank begins: a server may send extra line ends before it."""
    blank = _LINE_ENDS.match(data, start)
    return blank.end() if blank else start
