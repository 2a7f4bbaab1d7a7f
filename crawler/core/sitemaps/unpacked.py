"""A sitemap's bytes, unpacked when they are packed, and no more of them than it may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from crawler.core.gzipped import MAGIC, Broken, gunzipped
from crawler.core.sitemaps.breaks import Break

LEAST = 64 * 1024  # bytes read at a time, as long as there are so many


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as they are, or decoded when they begin as gzip does, whatever the file is called."""
    source = iter(pieces)
    head = b""
    while len(head) < len(MAGIC) and (piece := next(source, b"")):
        head += piece
    whole = chain((head,), source)
    if not head.startswith(MAGIC):
        yield from whole
        return
    try:
        yield from gunzipped(whole)
    except Broken as broken:
        raise Break(str(broken)) from broken


def joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same in pieces of LEAST bytes at least, but for the last: a file can be packed so that it comes byte by byte,
    and readers look again at what they could not make sense of yet."""
    held, size = list[bytes](), 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= LEAST:
                yield b"".join(held)
                held, size = [], 0
    except Break:
        if held:
            yield b"".join(held)
        raise
    if held:
        yield b"".join(held)


def limited(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The first `most` bytes; then a Break, if there are more."""
    room = most
    for piece in pieces:
        yield piece[:room]
        if len(piece) > room:
            raise Break(f"larger than {most // 1024**2} MB; the rest was not read")
        room -= len(piece)
