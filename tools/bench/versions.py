"""Knows how another version of this project is had beside this one: its files, and the packages it needs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crawler.launch import speedups
from crawler.settings.environment import ROOT
from tools.bench.peers import environment
from tools.bench.services import Unavailable

DRIVER = "tools/bench/driver.py"
EARLIER_DRIVER = "benchmarks/driver.py"


@dataclass(frozen=True)
class Version:
    title: str
    root: Path
    python: Path


def driver_in(root: Path) -> str:
    """The module of this version that starts a crawl and waits for its end."""
    path = DRIVER if (root / DRIVER).exists() else EARLIER_DRIVER
    return path.removesuffix(".py").replace("/", ".")


def this(python: Path) -> Version:
    """What stands in the working tree, committed or not."""
    changes = " changed" if _git("status", "--porcelain", "--untracked-files=no") else ""
    return Version(f"this version ({_git('rev-parse', '--short', 'HEAD')}{changes})", ROOT, python)


def checked_out(ref: str, folder: Path, python: Path, requirements: str) -> Version:
    """The version of a commit, branch or tag, in this folder, which git knows nothing of, so that it may be deleted.

    1. Its files. 2. `.env` of this one, which is not in git but is part of how it is set. 3. `python` is its Python if
    it asks for the same packages as this version, else a new environment with the packages of its file `requirements`.
    4. Compile it, as this version is, and the page reader of its own sources beside its files. Raises Unavailable.
    """
    commit = _git("rev-parse", "--short", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    root, archive = folder / "root", folder / "root.tar"
    root.mkdir(parents=True)
    _git("archive", "--format=tar", "--output", str(archive), commit)
    _run(["tar", "-xf", str(archive), "-C", str(root)], ROOT)
    archive.unlink()
    if not any((root / driver).exists() for driver in (DRIVER, EARLIER_DRIVER)):
        raise Unavailable(f"{ref} is too old: it has no {DRIVER}, which starts a crawl and waits for its end")
    if (ROOT / ".env").exists():
        shutil.copy(ROOT / ".env", root / ".env")
    if pins(root, requirements) != pins(ROOT, requirements):
        print(f"Installing what {requirements} of {ref} pins ...", file=sys.stderr, flush=True)
        made = environment.installed(folder / "venv", root / requirements)
        if made is None:
            raise Unavailable(f"the packages of {ref} could not be installed; pip's own words are above")
        python = made
    _run([str(python), "-m", "compileall", "-q", "crawler", "settings"], root)
    with suppress(speedups.CannotBuild):  # it has none, or there is no compiler
        speedups.build(root / "speedups" / "page_scanner.c", root)
    return Version(ref if ref == commit else f"{ref} ({commit})", root, python)


def pins(root: Path, requirements: str) -> set[str]:
    """The requirements in a file, and in the files it includes."""
    found = set[str]()
    for line in (root / requirements).read_text().splitlines():
        said = line.partition("#")[0].strip()
        if said.startswith("-r "):
            found |= pins(root, said.removeprefix("-r ").strip())
        elif said:
            found.add(said)
    return found


def _git(*words: str) -> str:
    return _run(["git", *words], ROOT)


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Unavailable(f"there is no {command[0]} here") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Unavailable(f"{' '.join(command[:2])} failed: {last}")
    return done.stdout.strip()
