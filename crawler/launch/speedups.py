"""Compiles the page reader, speedups/page_scanner.c, with the standard library only. Where that is impossible, pages
are read without it, which takes more CPU time."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

MODULE = "crawler_speedups"
_FLAGS = ("-O3", "-fPIC", "-fvisibility=hidden")
_SHARED = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
_TIMEOUT_S = 120.0


class CannotBuild(Exception):
    """`str` says why."""


def main() -> int:
    """Compile it for this Python, and say in one line which way pages are read. An older one is removed before."""
    root, folder = Path(sys.argv[1]), Path(sysconfig.get_path("platlib"))
    file_in(folder).unlink(missing_ok=True)
    try:
        build(root / "speedups" / "page_scanner.c", folder)
    except CannotBuild as error:
        print(f"Pages are read without the compiled reader: {error}", file=sys.stderr)
        return 0
    print("Pages are read by the compiled reader.", file=sys.stderr)
    return 0


def file_in(folder: Path) -> Path:
    """Any Python 3 from 3.11 on loads it: it uses the stable ABI."""
    return folder / f"{MODULE}.abi3.so"


def build(source: Path, folder: Path, *more: str) -> Path:
    """The extension, compiled into this folder with `more` flags and imported once to try it. Raises CannotBuild."""
    if not source.exists():
        raise CannotBuild(f"{source} is missing")
    command = [*compiler(), *_FLAGS, *more, *_SHARED, f"-I{headers()}", str(source)]
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        made = file_in(Path(beside))
        _run([*command, "-o", str(made)], "it could not be compiled")
        _run([sys.executable, "-c", f"import {MODULE}"], "it could not be imported", PYTHONPATH=beside)
        return made.replace(file_in(folder))


def compiler() -> list[str]:
    """The command of a C compiler: CC, the one that Python was built with, or the usual ones. Raises CannotBuild."""
    named = (os.environ.get("CC", ""), str(sysconfig.get_config_var("CC") or ""), "cc", "gcc", "clang")
    for command in map(shlex.split, named):
        if command and shutil.which(command[0]):
            return command
    raise CannotBuild("there is no C compiler")


def headers() -> str:
    """The folder of Python's headers. Raises CannotBuild."""
    folder = sysconfig.get_path("include")
    if not (Path(folder) / "Python.h").exists():
        raise CannotBuild("Python's headers are missing (Debian, Ubuntu: sudo apt install python3-dev)")
    return folder


def _run(command: list[str], what: str, **environment: str) -> None:
    try:
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"{what}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise CannotBuild(f"{what}: {last}")


if __name__ == "__main__":
    sys.exit(main())
