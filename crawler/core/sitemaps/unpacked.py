"""A sitemap's bytes, unpacked when they are packed, and no more of them than it may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from crawler.core.gzipped import MAGIC, Broken, gunzipped
from crawler.core.sitemaps.breaks import Break


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


def limited(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The first `most` bytes; then a Break, if there are more."""
    room = most
    for piece in pieces:
        yield piece[:room]
        if len(piece) > room:
            raise Break(f"larger than {most // 1024**2} MB; the rest was not read")
        room -= len(piece)
