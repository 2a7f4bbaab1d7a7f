"""`python -m tools.release v1.0.0`: checks that a tag may be released, and prints the changelog's section of it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class NotReleasable(Exception):
    """The message says what to do."""


def notes(tag: str, version: str, changelog: str) -> str:
    """What the changelog says of this version, below its heading "## [1.0.0] - 2026-11-28" (keepachangelog.com)."""
    if tag != f"v{version}":
        raise NotReleasable(f"The tag is {tag}, but pyproject.toml has version {version}: one of them is wrong.")
    found = re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None or not found[1].strip():
        raise NotReleasable(f'CHANGELOG.md has no section "## [{version}] - date" with text: write it, then tag again.')
    return f"{found[1].strip()}\n"


def main(tag: str) -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    try:
        sys.stdout.write(notes(tag, project["version"], (ROOT / "CHANGELOG.md").read_text()))
    except NotReleasable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
