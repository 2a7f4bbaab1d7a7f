"""The pieces of an export as they are handed on: not too small, because each costs a write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

ENOUGH = 1 << 16  # bytes or characters

Piece = str | bytes
"""Text, to be written in UTF-8, or bytes."""


def gathered(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same, in pieces of ENOUGH and more, the last one excepted. An export is all text or all bytes."""
    waiting, size = list[Piece](), 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= ENOUGH:
            yield _joined(waiting)
            waiting, size = [], 0
    if size:
        yield _joined(waiting)


def _joined(pieces: list[Piece]) -> Piece:
    if isinstance(pieces[0], bytes):
        return b"".join(cast(list[bytes], pieces))
    return "".join(cast(list[str], pieces))
