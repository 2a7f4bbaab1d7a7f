"""A file that a library writes into and we hand on, piece by piece, so that nothing is ever whole in memory."""

from __future__ import annotations


class Sink:
    """Takes bytes one after the other; `taken` gives those that came since the last time. It can be neither read nor
    sought, and closing it loses nothing."""

    closed = False  # libraries ask

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def write(self, piece: bytes | memoryview) -> int:
        taken = bytes(piece)
        self._pieces.append(taken)
        self._at += len(taken)
        return len(taken)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """Nothing waits anywhere else."""

    def close(self) -> None:
        """What was written can still be taken."""

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
