"""Knows where the peers are installed: environments of their own below .bench, so that the project's stays small.

It has the project's packages too, and PostgreSQL's driver: all are measured under the same Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from crawler.settings.environment import ROOT

BENCH = ROOT / ".bench"
REQUIREMENTS = ("requirements.txt", "requirements-bench.txt")
SPIDER = "0.0.157"  # of @spider-rs/spider-rs and its program for Linux
SPIDER_SCRIPT = BENCH / "node" / "spider_rs.mjs"  # a module is looked for beside the script that names it
_PIP = ("-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check")


def prepared(folder: Path = BENCH / "venv", requirements: Sequence[str] = REQUIREMENTS) -> Path | None:
    """The Python of that environment, made on first use from the last of these files, which may name the others; None
    when it could not be made."""
    python, stamp = folder / "bin" / "python", folder / "stamp"
    state, place = _state(folder, requirements), folder.relative_to(ROOT)
    if python.exists() and stamp.exists() and stamp.read_text() == state:
        return python
    print(f"One-time set-up: installing what {requirements[-1]} pins into {place} ...", file=sys.stderr, flush=True)
    if installed(folder, ROOT / requirements[-1]) is None:
        print("It could not be installed; pip's own words are above.", file=sys.stderr, flush=True)
        return None
    subprocess.run([python, "-I", ROOT / "crawler" / "launch" / "speedups.py", ROOT], check=False)  # as in bin/_setup
    stamp.write_text(state)
    return python


def installed(folder: Path, requirements: Path) -> Path | None:
    """The Python of a new environment with what this file pins; None when pip failed, which has told why."""
    python = folder / "bin" / "python"
    venv.create(folder, clear=True, with_pip=True)
    command: list[str | Path] = [python, *_PIP, "--requirement", requirements]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        sys.stderr.buffer.write(done.stdout)
    return None if done.returncode else python


def why_no_spider() -> str | None:
    """Why spider-rs cannot be run here; None = it can. It is installed on first use."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "there is no Node.js with npm here"
    folder = SPIDER_SCRIPT.parent
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("spider_rs.mjs"), SPIDER_SCRIPT)
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == SPIDER:
        return None
    names = [f"@spider-rs/{name}@{SPIDER}" for name in ("spider-rs", "spider-rs-linux-x64-gnu")]
    command = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"npm could not install it: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}"
    stamp.write_text(SPIDER)
    return None


def can_import(python: Path, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def _state(folder: Path, requirements: Sequence[str]) -> str:
    """Of the requirements, what is compiled, the version of Python, and the place."""
    digest = blake2b(digest_size=8)
    for file in (*(ROOT / name for name in requirements), *(ROOT / "speedups").glob("*.c")):
        digest.update(file.read_bytes())
    return f"{digest.hexdigest()} {sys.version_info[:2]} {folder}"
