"""A response as far as its bytes have arrived: what its head says, which bytes are its body, where it ends.

llhttp reads it, strictly: a head it refuses is put right by `mending` and read again, and in a body nothing is
forgiven. So there is one judge of where a message ends. No socket is known here.
"""

from __future__ import annotations

import re

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from crawler.http.errors import FetchTrouble, HeadTooLarge, HungUp, NotHttp

# Heads that browsers read and a strict parser does not, put right for it.

_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9])[ \t]+([0-9]{3})(?:[ \t][^\n]*)?\r?", re.IGNORECASE)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_CONTROLS = bytes(byte for byte in range(256) if byte < 32 or byte == 127)
_BLANKED = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))
_LENGTH, _CODING = b"content-length", b"transfer-encoding"

Field = tuple[bytes, bytes]
"""A header's name and value."""


def mended(head: bytes) -> bytes:
    """The head, from its status line to its blank line, in the grammar of RFC 9112; NotHttp if it cannot be.

    1. The status line is spelt anew, in capitals, with single blanks and without the reason.
    2. A folded line goes on with the one before it; behind the status line it is dropped.
    3. Lines without a colon and those whose name is no name are dropped.
    4. Control characters in a value, NUL and a bare CR among them, become blanks.
    5. The headers that say where the body ends are made one, as `_framing` does it.
    """
    first, *rest = head.split(b"\n")
    fields = [field for line in _unfolded(rest) if (field := _field(line)) is not None]
    others = [field for field in fields if field[0].lower() not in (_LENGTH, _CODING)]
    lines = [name + b": " + value for name, value in (*others, *_framing(fields))]
    return b"\r\n".join([_status_line(first), *lines, b"", b""])


def check_status_line(head: bytes, start: int) -> None:
    """NotHttp if the line there has come to its end and is no status line: why wait for more?"""
    end = head.find(b"\n", start)
    if end >= 0:
        _status_line(head[start:end])


def _status_line(line: bytes) -> bytes:
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise NotHttp(f"the status line is {line[:60].decode('latin-1').strip()!r}")
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
    if colon and _NAME.fullmatch(name):
        return name, value.translate(_BLANKED).strip()
    if name.strip().lower() in (_LENGTH, _CODING):
        raise NotHttp("the header that says where the body ends is garbled")
    return None


def _framing(fields: list[Field]) -> list[Field]:
    """What says where the body ends, so that nobody can read it in two ways (RFC 9112, 6.3).

    Lengths that are the same count once, one that is no number counts for nothing. A transfer coding takes their
    place, as browsers have it; but who sent both may have meant another end, so nothing is read behind it.
    """
    lengths = {part.strip() for part in _values(fields, _LENGTH)}
    codings = [part.strip() for part in _values(fields, _CODING) if part.strip().lower() != b"identity"]
    if len(lengths) > 1:
        raise NotHttp("the Content-Length headers contradict each other")
    if codings:
        coding = (b"Transfer-Encoding", b", ".join(codings))
        return [coding, (b"Connection", b"close")] if lengths else [coding]
    return [(b"Content-Length", length) for length in lengths if length.isdigit()]


def _values(fields: list[Field], name: bytes) -> list[bytes]:
    return [part for known, value in fields if known.lower() == name for part in value.split(b",")]


MAX_HEADERS = 100
FRAMING = 16  # bytes of it that each byte of a body pays for; chunks of one byte need 5, or 12 if a size has 8 digits
_BEGINNING = b"HTTP/1."  # llhttp would also take HTTP/2.0, RTSP/ and ICE/
_BLANK_LINE = re.compile(rb"\n\r?\n")
_LINE_ENDS = re.compile(rb"[\r\n]*")


class _Behind(Exception):
    """Something stands behind the message; raised to stop the parser."""


class Reading:
    """One exchange's answer: interim responses, skipped (RFC 9110, 15.2), and the final one.

    `feed` it what arrives until it `is_complete` or `broken`, and take the `pieces` each time; `end` it when the
    connection ends before. 101 is final: we asked for no upgrade, and what follows it is not HTTP.
    """

    def __init__(self, max_head_bytes: int, *, bodiless: bool = False) -> None:
        self.status = 0  # of the final response; 0 until its head is complete
        self.fields: list[tuple[bytes, bytes]] = []  # its headers as sent
        self.first: dict[bytes, bytes] = {}  # the first header of each name, in lower case
        self.pieces: list[bytes] = []  # of the body, without the framing; who reads them takes them out
        self.is_complete = False
        self.broken: FetchTrouble | None = None  # why the body cannot be read further
        self._limit = max_head_bytes
        self._bodiless = bodiless  # the answer to HEAD has no body, whatever its headers say
        self._arrived = b""  # everything until the head is complete
        self._heads = 0  # complete ones
        self._refused = False  # the parser did not take a head as it stands
        self._mended_to = 0  # where in `_arrived` the next head to mend begins
        self._looked_to = 0  # how far its end was looked for: looked for anew at each byte, it takes a square of time
        self._begins_at = 0  # where in `_arrived` the first line may begin
        self._keeps_alive = False
        self._is_clean = True  # nothing stands behind the message
        self._awaits_chunk = False  # a chunk has begun, perhaps the last, and nothing of it has come
        self._allowance = max_head_bytes  # bytes that may stand between the pieces of the body; grows with the body
        self._parser = self._new_parser()

    def feed(self, data: bytes) -> None:
        """Raises NotHttp and HeadTooLarge while the head is not complete; a body that fails is `broken`."""
        if not self.status:
            self._feed_head(data)
            return
        self._parse(data)
        body = sum(map(len, self.pieces))
        self._allowance = min(self._limit, self._allowance + body * FRAMING - (len(data) - body))
        if self._allowance < 0 and not self.is_complete:
            self.broken = HeadTooLarge("between two pieces of the body stands more than chunks need")

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
            self.broken = NotHttp("the connection ended before the body did")

    def is_chunked(self) -> bool:
        return self.first.get(b"transfer-encoding", b"").rstrip().lower().endswith(b"chunked")

    def is_reusable(self) -> bool:
        """Whether the connection is good for another exchange."""
        return self.is_complete and self._is_clean and self._keeps_alive

    def let_go(self) -> None:
        """Part from the parser, which holds on to us: else only the garbage collector could part the two."""
        del self._parser

    # What the parser calls; what is raised here comes out of it as HttpParserCallbackError.

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise _Behind

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
            raise NotHttp(f"{status} is not a status")
        self.status = status
        self.first = {name.lower(): value for name, value in reversed(self.fields)}
        self._keeps_alive = status != 101 and (self._parser.should_keep_alive() or (self._bodiless and self._lasts()))
        self.is_complete = self._bodiless

    def on_chunk_header(self) -> None:
        self._awaits_chunk = True

    def on_body(self, data: bytes) -> None:
        if self._bodiless:
            raise _Behind
        self._awaits_chunk = False
        self.pieces.append(data)

    def on_message_complete(self) -> None:
        self.is_complete = self.status != 0

    # The steps

    def _new_parser(self) -> HttpResponseParser:
        parser = HttpResponseParser(self)
        parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True,  # in the head; RFC 9112, 2.2
            lenient_spaces_after_chunk_size=True,
            lenient_keep_alive=True,  # else no response could follow an interim one that says "close"
        )
        return parser

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._is_clean = False
        except HttpParserError as error:
            inner = error.__context__
            if isinstance(error, HttpParserCallbackError) and inner is not None and not isinstance(inner, _Behind):
                raise inner from None  # a worker's own time limit may strike in there as anywhere
            self._stumble(str(error))

    def _stumble(self, reason: str) -> None:
        if self.is_complete:
            self._is_clean = False
        elif self._awaits_chunk:  # any byte would do for a chunk's data: these are trailers, which nobody needs
            self.is_complete, self._is_clean = True, False
        elif self.status:
            self.broken = NotHttp(f"the body cannot be read: {reason}")
        elif self._refused:
            raise NotHttp(f"the headers cannot be read: {reason}")
        else:
            self._refused, self._parser = True, self._new_parser()
            self._heads = 0
            self.fields.clear()

    def _feed_head(self, data: bytes) -> None:
        self._arrived += data
        if not self._arrived.startswith(_BEGINNING):
            self._check_beginning()
        if self._refused or not self._is_taken(data):
            self._read_mended()
        if len(self.fields) > MAX_HEADERS:
            raise HeadTooLarge(f"the response has more than {MAX_HEADERS} headers")
        if len(self._arrived) > self._limit and (not self.status or self._head_size() > self._limit):
            raise HeadTooLarge(f"the headers are larger than {self._limit} bytes")
        if self._bodiless and self.status and not self._arrived.endswith((b"\n\r\n", b"\n\n")):
            self._is_clean = False
        if self.status:
            self._arrived = b""

    def _check_beginning(self, *, is_all: bool = False) -> None:
        """NotHttp once the first line is here, or will not come, and is none of ours."""
        self._begins_at = at = _first_line_at(self._arrived, self._begins_at)
        line, end, _ = self._arrived[at:].partition(b"\n")
        if (end or is_all) and not _BEGINNING.startswith(line[: len(_BEGINNING)].upper()):
            raise NotHttp(f"what arrived is not HTTP/1 but begins with {line[:60].decode('latin-1')!r}")

    def _is_taken(self, data: bytes) -> bool:
        self._parse(data)
        return not self._refused

    def _read_mended(self) -> None:
        """Let the parser read every head that is complete as `mended` gives it, and what stands behind the last."""
        while not self.status:
            start = _first_line_at(self._arrived, self._mended_to)
            check_status_line(self._arrived, start)
            end = _BLANK_LINE.search(self._arrived, max(start, self._looked_to))
            if end is None:
                self._looked_to = max(0, len(self._arrived) - 2)  # it may have begun
                return
            self._mended_to = end.end()
            self._parse(mended(self._arrived[start : self._mended_to]))
        self._parse(self._arrived[self._mended_to :])

    def _end_head(self) -> None:
        if not self._arrived:
            raise HungUp("the server closed the connection without an answer")
        self._check_beginning(is_all=True)
        raise NotHttp("the connection ended within the headers")

    def _head_size(self) -> int:
        """Bytes of all heads together, which came in one piece with some of the body."""
        size = 0
        for _ in range(self._heads):
            end = _BLANK_LINE.search(self._arrived, _first_line_at(self._arrived, size))
            size = end.end() if end else size
        return size

    def _end_chunks(self) -> None:
        """Whoever hangs up behind the last chunk need not say that there are no trailers. Was it the last?"""
        if self._awaits_chunk and not self.is_complete:
            self._parse(b"\r\n\r\n")
            if not self.is_complete:  # it was not, and these became data
                self.pieces.clear()

    def _lasts(self) -> bool:
        """llhttp, which does not know that this has no body, would have it end with the connection."""
        said = b",".join(value for name, value in self.fields if name.lower() == b"connection").lower()
        return self._parser.get_http_version() == "1.1" and b"close" not in said


def _first_line_at(data: bytes, start: int) -> int:
    """Where the first line that is not blank begins: a server may have sent a line end too much before it."""
    blank = _LINE_ENDS.match(data, start)
    return blank.end() if blank else start
