"""Gzip undone in small steps, so that a few bytes cannot become a great many before anybody counts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from crawler.core.sitemaps.breaks import Break

STEP = 64 * 1024  # bytes decoded at a time, at most

_GZIP = 16 + zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as they are, or decoded when they begin as gzip does, whatever the file is called."""
    source = iter(pieces)
    head = b""
    while len(head) < len(_MAGIC) and (piece := next(source, b"")):
        head += piece
    if head.startswith(_MAGIC):
        yield from _gunzipped(head, source)
        return
    yield head
    yield from source


def limited(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The first `most` bytes; then a Break, if there are more."""
    room = most
    for piece in pieces:
        yield piece[:room]
        if len(piece) > room:
            raise Break(f"larger than {most // 1024**2} MB; the rest was not read")
        room -= len(piece)


def _gunzipped(head: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    """RFC 1952: members one after another; what follows the last and is not a member is dropped."""
    member = zlib.decompressobj(_GZIP)
    for piece in chain((head,), rest):
        data = piece
        while data:
            if member.eof:
                if not data.startswith(_MAGIC[: len(data)]):
                    return
                member = zlib.decompressobj(_GZIP)
            yield from _inflated(member, data)
            data = member.unused_data
    if not member.eof:
        raise Break("the gzip data ends before its end")


def _inflated(member: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    while True:
        try:
            step = member.decompress(data, STEP)
        except zlib.error as error:
            raise Break(f"the gzip data is damaged: {error}") from error
        if step:
            yield step
        data = member.unconsumed_tail
        if not data and len(step) < STEP:  # a full step may leave output behind with all input taken
            return
