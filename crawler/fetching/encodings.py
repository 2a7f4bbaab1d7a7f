"""Content-Encoding undone in small steps, so that a few bytes cannot become a great many before anybody counts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

from crawler.fetching.trouble import NotHttp

ACCEPTED = "gzip, deflate"  # what we say in Accept-Encoding
STEP = 64 * 1024  # bytes decoded at a time, at most

_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


class _Inflater(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


def decoded(pieces: Iterable[bytes], content_encoding: str) -> Iterator[bytes]:
    """The decoded body in pieces of at most STEP bytes, or NotHttp for an encoding we did not ask for.

    One encoding at most: a body compressed twice has no honest use.
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    match [name for name in names if name not in ("", "identity")]:
        case []:
            return iter(pieces)
        case ["gzip" | "x-gzip"]:
            return _gunzipped(pieces)
        case ["deflate"]:
            return _inflated(pieces)
    raise NotHttp(f"the body is encoded as {content_encoding!r}, which was not asked for")


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """RFC 1952: members one after another; what follows the last and is not a member is dropped, as browsers do."""
    inflater: _Inflater = zlib.decompressobj(_GZIP)
    begun = over = False
    for piece in pieces:
        data = piece
        while data and not over:
            begun = True
            yield from _drained(inflater, data)
            data = inflater.unused_data
            if inflater.eof and data:
                over = not data.startswith(_GZIP_MAGIC[: len(data)])
                inflater = inflater if over else zlib.decompressobj(_GZIP)
    if begun and not inflater.eof:
        raise NotHttp("the gzip body ends before its end")


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """ "deflate" is a zlib stream (RFC 1950) by the book and a bare one (RFC 1951) from some servers."""
    source = iter(pieces)
    head = b""
    while len(head) < 2 and (piece := next(source, b"")):
        head += piece
    if not head:
        return
    inflater: _Inflater = zlib.decompressobj(zlib.MAX_WBITS if _is_zlib_header(head) else -zlib.MAX_WBITS)
    yield from _drained(inflater, head)
    for piece in source:
        if inflater.eof:
            continue
        yield from _drained(inflater, piece)
    if not inflater.eof:
        raise NotHttp("the deflate body ends before its end")


def _drained(inflater: _Inflater, data: bytes) -> Iterator[bytes]:
    while True:
        try:
            step = inflater.decompress(data, STEP)
        except zlib.error as error:
            raise NotHttp(f"the body cannot be decoded: {error}") from error
        if step:
            yield step
        data = inflater.unconsumed_tail
        if not data and len(step) < STEP:  # a full step may leave output behind with all input taken
            return


def _is_zlib_header(head: bytes) -> bool:
    """RFC 1950, 2.2: method 8, and the first two bytes are a multiple of 31."""
    return len(head) >= 2 and head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
