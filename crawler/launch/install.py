"""Creates `.venv` and installs the pinned packages, with the standard library only.

A stamp file names the installed packages. It is written last, so the next start repairs an interrupted set-up.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STARTUP_FILE = "site_crawler.pth"
_STARTUP_LINE = """\
import sys; (getattr(sys, "argv", None) or [""])[0].rpartition("/")[2] in ("rq", "rq-dashboard", "rqinfo", "rqworker") \
and exec(__import__("pathlib").Path(sys.prefix).with_name("crawler").joinpath("launch/rq_environment.py").read_text(), \
{"__name__": "rq_environment"})
"""
"""What each start of this environment's Python executes: for RQ's programs it executes `crawler.launch.rq_environment`
of the project folder, for others it compares a name."""

_FOUND = re.compile(r"(?:Collecting|Processing|Ignoring|Requirement already satisfied:) (?:\S*/)?([A-Za-z0-9._-]+)")
_PLAINLY = ("install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")


def main() -> int:
    root, requirements, checksum = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    try:
        with locked(root):
            return install(root, requirements, checksum)
    except OSError as error:
        _say(
            f"The virtual environment {root / '.venv'} cannot be created ({error.strerror or error}). "
            "Make the project folder writable, or copy the project to a writable place."
        )
        return 1
    except KeyboardInterrupt:
        _say("Interrupted; the next start continues the set-up.")
        return 130


def install(root: Path, requirements: str, checksum: str) -> int:
    """Install what this requirements file pins into `.venv`, which must not be a symbolic link; return the exit
    code."""
    folder = root / ".venv"
    if folder.is_symlink():  # to clear it could empty a folder of another program
        _say(
            f"{folder} is a symbolic link to {folder.readlink()}. The set-up clears .venv, so it must be a folder. "
            f"Remove the link (rm {shlex.quote(str(folder))}) and run this again; the target of the link stays."
        )
        return 1
    stamp = folder / f"{requirements}.stamp"
    if _is_healthy(folder) and _read(stamp) == _state(folder, checksum, root):
        return 0  # another start installed it meanwhile
    _say(f"One-time set-up: installing what {requirements} pins into .venv (about a minute) ...")
    if not _is_healthy(folder):
        venv.create(folder, clear=True, with_pip=True)
    stamp.unlink(missing_ok=True)
    code, output = _run_pip(folder, root / requirements)
    if code != 0:
        sys.stderr.write(output)
        _say("The packages could not be installed; pip's output is above. The next start tries again.")
        return 1
    write_startup_file(packages(folder, _version(folder)))
    if requirements == "requirements.txt":  # which every command sets up
        _build_speedups(folder, root)
    stamp.write_text(_state(folder, checksum, root) + "\n")
    return 0


def _build_speedups(folder: Path, root: Path) -> None:
    """Compile what makes workers faster. It says itself what came of it."""
    script = root / "crawler" / "launch" / "speedups.py"
    if script.exists():
        subprocess.run([_python(folder), "-I", script, root], check=False)


def _run_pip(folder: Path, requirements: Path) -> tuple[int, str]:
    """The exit code and the output of pip, whose progress is shown meanwhile."""
    progress, output = Progress(_pinned(requirements)), list[str]()
    command = [str(_python(folder)), "-m", "pip", *_PLAINLY, "--requirement", str(requirements)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        for line in pip.stdout or ():
            output.append(line)
            progress.read(line)
    progress.end()
    return pip.returncode, "".join(output)


def _pinned(requirements: Path) -> int:
    """How many packages the file names, and those that it includes."""
    number = 0
    for line in map(str.strip, requirements.read_text().splitlines()):
        if line.startswith("-r "):
            number += _pinned(requirements.parent / line.removeprefix("-r ").strip())
        elif line and line[0] not in "#-":
            number += 1
    return number


class Progress:
    """Reads pip's output, and shows how many of the packages it has found: on a terminal in one line that changes,
    elsewhere in a line for each quarter."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._said = total, 0, 0
        self._is_terminal = sys.stderr.isatty()

    def read(self, line: str) -> None:
        if found := _FOUND.match(line):
            self._done = min(self._done + 1, self._total)
            self._show(f"  {self._done} of {self._total} packages: {found[1]}", is_due=self._is_quarter())
        elif line.startswith("Installing collected packages"):
            self._show(f"  {self._total} of {self._total} packages downloaded; installing them ...", is_due=True)

    def end(self) -> None:
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")

    def _is_quarter(self) -> bool:
        quarter = 4 * self._done // self._total if self._total else 0
        is_new, self._said = 0 < quarter < 4 and quarter > self._said, max(quarter, self._said)
        return is_new

    def _show(self, line: str, *, is_due: bool) -> None:
        if self._is_terminal:
            sys.stderr.write(f"\r{line[:78]}\x1b[K")
            sys.stderr.flush()
        elif is_due:
            _say(line)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder or file to the end of the block, or of a process that is killed. A file is
    created if it is missing, and opened for writing: NFS locks no other."""
    held = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def packages(folder: Path, version: str) -> Path:
    """The folder of the environment's packages, with a Python of this version, such as 3.12."""
    return folder / "lib" / f"python{version}" / "site-packages"


def write_startup_file(folder: Path) -> None:
    (folder / _STARTUP_FILE).write_text(_STARTUP_LINE)


def _is_healthy(folder: Path) -> bool:
    """Whether the environment was created at this path (its scripts name it), and has a supported Python and pip."""
    pip = folder / "bin" / "pip"
    is_here = pip.exists() and str(folder) in pip.read_text()
    return is_here and _version(folder) in {"3.11", "3.12", "3.13", "3.14"}


def _version(folder: Path) -> str:
    """Such as "3.12"; "" if that Python does not start or has no pip."""
    question = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([_python(folder), "-I", "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _state(folder: Path, checksum: str, root: Path) -> str:
    """The content of the stamp; `bin/_setup` computes the same."""
    return f"{checksum} {_version(folder)} {root}"


def _read(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
