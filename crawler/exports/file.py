"""Writes an export to a file that exists only when it is complete, and checks early that it can be written.

A crash may leave the draft next to the file (".NAME.PID.part"), never an incomplete file under its own name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import cast

from crawler.core.errors import BadInput

MIN_PIECE_SIZE = 1 << 16  # bytes or characters; each piece costs a write

Piece = str | bytes
"""Text, written in UTF-8, or bytes."""


def gathered(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same in pieces of at least MIN_PIECE_SIZE, except the last. An export is all text or all bytes."""
    waiting, size = list[Piece](), 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= MIN_PIECE_SIZE:
            yield _joined(waiting)
            waiting, size = [], 0
    if size:
        yield _joined(waiting)


def _joined(pieces: list[Piece]) -> Piece:
    if isinstance(pieces[0], bytes):
        return b"".join(cast(list[bytes], pieces))
    return "".join(cast(list[str], pieces))


def format_by_name(file: str, endings: Mapping[str, str]) -> str:
    """The format, a value of `endings`, whose ending is the longest that the name has; "-" (standard output) is JSON
    lines. BadInput if there is none."""
    if file == "-":
        return "jsonl"
    name = PurePath(file).name.lower()
    fitting = [ending for ending in endings if _has(name, ending)]
    if not fitting:
        *others, last = (f".{key}" for key in dict.fromkeys(endings.values()))
        known = f"{', '.join(others)} or {last}"
        raise BadInput("export", f"The format of {file} is unknown; its name must end in {known}.")
    return endings[max(fitting, key=len)]


def _has(name: str, ending: str) -> bool:
    """ "pages.csv" has "csv"; "links.csv" and "site-links.csv" have "links.csv" beside it."""
    if "." not in ending:
        return PurePath(name).suffix == f".{ending}"
    return name == ending or name.endswith(tuple(f"{mark}{ending}" for mark in ".-_"))


def check_writable(file: str) -> None:
    """BadInput when no export can be written there; leaves no file."""
    try:
        if Path(file).is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if Path(file).exists() and not os.access(file, os.W_OK):
            raise PermissionError(0, "it is read-only")
        if not _is_special(file):
            draft = _draft(Path(file).resolve())
            draft.touch()
            draft.unlink()
    except (OSError, ValueError) as error:
        raise BadInput("export", f"{file} cannot be written: {reason(error)}. {_instead(file)}") from None


def write(file: str, pieces: Iterable[Piece]) -> None:
    """Write all pieces to a draft next to the file, then rename it; on an error the file does not change.

    A pipe or a device (/dev/stdout) is written to directly. Raises OSError.
    """
    if _is_special(file):
        _fill(Path(file), pieces)
        return
    target = Path(file).resolve()  # a link stays a link
    draft = _draft(target)
    try:
        _fill(draft, pieces)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be written, for the end of a sentence."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _instead(file: str) -> str:
    """What to do when a file cannot be written."""
    folder = os.path.dirname(file)  # noqa: PTH120 (a Path drops what may be the mistake)
    if folder and not os.path.lexists(folder.replace("\0", "")):
        return f"Create the folder {folder} first, or choose another file."
    return "Choose another file."


def _fill(path: Path, pieces: Iterable[Piece]) -> None:
    with path.open("wb") as out:
        out.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)


def _is_special(file: str) -> bool:
    """Whether it is a pipe or a device, which cannot be replaced by renaming."""
    path = Path(file)
    return file.startswith("/dev/") or (path.exists() and not path.is_file())


def _draft(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")


class Sink:
    """A file for libraries to write to; `taken` returns the bytes written since the last call, so that an export is
    never in memory as a whole. It can be neither read nor sought, and closing it loses nothing."""

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
        """There is no other buffer."""

    def close(self) -> None:
        """`taken` still works."""

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
