"""Decoding of gzip and deflate in small steps, so that the caller can limit the decoded size."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

STEP = 64 * 1024  # maximum bytes decoded at a time
MAGIC = b"\x1f\x8b"

_GZIP = 16 + zlib.MAX_WBITS


class Broken(Exception):
    """Why the data cannot be decoded to its end; the data before that was yielded."""


class Inflater(Protocol):
    """The type of `zlib.decompressobj`, which has no public name."""

    @property
    def eof(self) -> bool: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


def gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """RFC 1952: members one after another. Data after the last member is ignored, as gzip and browsers do.

    Empty data is valid. Raises Broken.
    """
    inflater: Inflater = zlib.decompressobj(_GZIP)
    begun = over = False
    for piece in _cut(pieces):
        data = piece
        while data and not over:
            begun = True
            yield from inflated(inflater, data)
            data = inflater.unused_data
            if inflater.eof and data:
                over = not data.startswith(MAGIC[: len(data)])
                inflater = inflater if over else zlib.decompressobj(_GZIP)
    if begun and not inflater.eof:
        raise Broken("the gzip data is truncated")


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same in pieces of at most STEP bytes: zlib copies the rest of a piece at the end of each member."""
    for piece in pieces:
        if len(piece) <= STEP:
            yield piece
        else:
            yield from (piece[at : at + STEP] for at in range(0, len(piece), STEP))


def inflated(inflater: Inflater, data: bytes) -> Iterator[bytes]:
    """The decoded data of one more piece, STEP bytes at a time. Raises Broken."""
    while True:
        try:
            step = inflater.decompress(data, STEP)
        except zlib.error as error:
            raise Broken(f"the compressed data is damaged: {error}") from error
        if step:
            yield step
        data = inflater.unconsumed_tail
        if inflater.eof:  # at its end zlib's unconsumed tail may be the data after it, which must not be fed again
            return
        if not data and len(step) < STEP:  # a full step may leave output pending after all input
            return
