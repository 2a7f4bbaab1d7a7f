"""Makes `.venv` and installs pinned packages in it. Runs on a bare Python with nothing but its standard library.

A stamp tells what is installed. It is written last, so whatever a broken-off set-up left is repaired by the next one.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_QUIETLY = ("install", "--quiet", "--no-input", "--disable-pip-version-check")


def main() -> int:
    root, requirements, checksum = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    try:
        with _alone_in(root):
            return install(root, requirements, checksum)
    except OSError as error:
        _say(
            f"The virtual environment {root / '.venv'} cannot be made ({error.strerror or error}). "
            "Make the project folder writable, or copy the project to a place that is."
        )
        return 1
    except KeyboardInterrupt:
        _say("Interrupted; the next start goes on with the set-up.")
        return 130


def install(root: Path, requirements: str, checksum: str) -> int:
    """The exit code: 0 once everything this requirements file pins is in `.venv`, which must not be a symbolic link."""
    folder = root / ".venv"
    if folder.is_symlink():  # to fill it could mean to empty a folder that belongs to something else
        _say(
            f"{folder} is a symbolic link to {folder.readlink()}. The set-up fills and clears .venv, so it must be a "
            f"folder of its own. Remove the link (rm {shlex.quote(str(folder))}) and start this again; what the link "
            "leads to stays as it is."
        )
        return 1
    stamp = folder / f"{requirements}.stamp"
    if _is_healthy(folder) and _read(stamp) == _state(folder, checksum, root):
        return 0  # another start did it while this one waited
    _say(f"One-time set-up: installing what {requirements} pins into .venv (about a minute) ...")
    if not _is_healthy(folder):
        venv.create(folder, clear=True, with_pip=True)
    stamp.unlink(missing_ok=True)
    pip = subprocess.run(
        [_python(folder), "-m", "pip", *_QUIETLY, "--requirement", root / requirements],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if pip.returncode != 0:
        sys.stderr.buffer.write(pip.stdout)
        _say("The packages could not be installed; pip's own words are above. The next start tries again.")
        return 1
    stamp.write_text(_state(folder, checksum, root) + "\n")
    return 0


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """One set-up at a time; the lock is on the folder itself and goes with the process."""
    folder = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _is_healthy(folder: Path) -> bool:
    """Whether there is an environment that was made in this place, and whose Python starts, is one we run on, and has
    pip. Where the project was moved, the programs in it still name the old place."""
    pip = folder / "bin" / "pip"
    is_here = pip.exists() and str(folder) in pip.read_text()
    return is_here and _version(folder) in {"3.11", "3.12", "3.13", "3.14"}


def _version(folder: Path) -> str:
    """Such as "3.12"; "" when that Python does not start or has no pip."""
    question = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([_python(folder), "-I", "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _state(folder: Path, checksum: str, root: Path) -> str:
    """What the stamp says; `bin/_setup` spells it the same way."""
    return f"{checksum} {_version(folder)} {root}"


def _read(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
