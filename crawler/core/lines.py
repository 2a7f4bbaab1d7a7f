"""What the bytes of a list's file say, one physical line at a time: unpacked, decoded, and never more than a few pieces
of it in memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from crawler.core.errors import BadInput
from crawler.core.gzipped import MAGIC, Broken, gunzipped

PIECE = 64 * 1024  # bytes that are read at a time
MAX_LENGTH = 10_000  # characters of a line
MAX_BYTES = 4 * 1024**3  # of the whole list once it is unpacked: a few KB can be packed so that they never end

TOO_LONG = f"The line is longer than {MAX_LENGTH:,} characters."
NUL = "The line holds NUL bytes, which no text does."
NOT_TEXT = "The line is no text: it is neither UTF-8 nor Latin-1."

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST = 4 * (MAX_LENGTH + 1)  # bytes that hold one character too many for sure
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")  # what Latin-1 has beside text


class Line(NamedTuple):
    """One physical line, without its end."""

    number: int  # from 1
    text: str
    fault: str  # why nothing can be made of it; "" = fine


def lines_of(pieces: Iterable[bytes], max_bytes: int = MAX_BYTES) -> Iterator[Line]:
    """The lines of a file that comes in pieces of any size; BadInput("list") when it cannot be read to its end.

    1. Unpack gzip, which is known by its first bytes.
    2. Decode UTF-16 when its byte order mark says so, and drop UTF-8's.
    3. Cut at LF, CRLF or CR. What a line has beyond MAX_LENGTH is dropped, and the line marked.
    4. Decode each line as UTF-8, else as Latin-1, if that makes text of it.
    """
    plain = _within(max_bytes, _as_utf8(_unpacked(pieces)))
    for number, line in enumerate(_cut(plain), start=1):
        text, fault = _decoded(line)
        yield Line(number, text, fault)


def _begin(pieces: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, and all of the pieces with them."""
    rest, begin = iter(pieces), b""
    while len(begin) < size:
        piece = next(rest, None)
        if piece is None:
            break
        begin += piece
    return begin[:size], chain([begin], rest)


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    magic, whole = _begin(pieces, len(MAGIC))
    return _gunzipped(whole) if magic == MAGIC else whole


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from gunzipped(pieces)
    except Broken as broken:
        raise BadInput("list", f"The list cannot be unpacked: {broken}. Was it copied whole?") from None


def _as_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    begin, whole = _begin(pieces, len(codecs.BOM_UTF8))
    if begin.startswith(_UTF_16):
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        return (decoder.decode(piece, final=not piece).encode() for piece in chain(filter(None, whole), [b""]))
    if begin == codecs.BOM_UTF8:
        first = next(whole)
        return chain([first[len(begin) :]], whole)
    return whole


def _within(max_bytes: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise BadInput("list", f"The list is larger than {max_bytes:,} bytes once it is unpacked; split it up.")
        yield piece


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        block = rest + piece
        end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1  # a CR at the very end may yet become CRLF
        yield from block[:end].splitlines()
        rest = block[end:]
        if len(rest) > _LONGEST:
            rest = rest[:_LONGEST] + rest[-1:]  # its end may be that CR
    yield from rest.splitlines()


def _decoded(line: bytes) -> tuple[str, str]:
    """The text, and what is wrong with it."""
    if len(line) > _LONGEST:
        return line[:MAX_LENGTH].decode(errors="replace"), TOO_LONG
    try:
        text, fault = line.decode(), ""
    except UnicodeDecodeError:
        text = line.decode("latin-1")
        fault = NOT_TEXT if _CONTROLS.search(text) else ""
    if b"\0" in line:
        return text[:MAX_LENGTH], NUL
    return text[:MAX_LENGTH], TOO_LONG if len(text) > MAX_LENGTH else fault
