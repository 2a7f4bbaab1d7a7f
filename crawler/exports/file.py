"""Writing an export so that a file is there only when it is complete, and finding out early that it cannot be written.

What a crash may leave behind: the draft beside the file (".NAME.PID.part"), never half a file under its own name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from crawler.core.errors import BadInput
from crawler.exports.gathered import Piece


def check_writable(file: str) -> None:
    """BadInput when no export could be written there; nothing is left behind."""
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
    """Write all pieces to a draft beside the file, then rename it; on any trouble the file stays as it was.

    Something that is no ordinary file (a pipe, /dev/stdout) is written to directly. Raises OSError.
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
    """What to do about a place that cannot be written."""
    folder = os.path.dirname(file)  # noqa: PTH120 (a Path drops what may be the mistake)
    if folder and not os.path.lexists(folder.replace("\0", "")):
        return f"Make the folder {folder} first, or name another file."
    return "Name another file."


def _fill(path: Path, pieces: Iterable[Piece]) -> None:
    with path.open("wb") as out:
        out.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)


def _is_special(file: str) -> bool:
    """Whether it is a pipe, a terminal or /dev/stdout, over which no draft can be renamed."""
    path = Path(file)
    return file.startswith("/dev/") or (path.exists() and not path.is_file())


def _draft(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")
