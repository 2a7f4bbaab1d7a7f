"""Finds or installs the Chromium that the browser tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from crawler.capabilities.browser.chromium import HOW_TO_INSTALL, find

_NONE = f"""\
The browser tests need Chromium, which was not found. Install it and run this again:
{HOW_TO_INSTALL}"""


def main() -> int:
    if find() or _install():
        return 0
    print(_NONE, file=sys.stderr)
    return 1


def _install() -> bool:
    """Install Debian's package as root, else Playwright's download; return whether a browser is there afterwards."""
    print("One-time set-up: installing Chromium for the browser tests ...", file=sys.stderr, flush=True)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _run("apt-get", "update")
        _run("apt-get", "install", "-y", "--no-install-recommends", "chromium")
    if find() is None:
        _run(sys.executable, "-m", "playwright", "install", "chromium")
    return find() is not None


def _run(*command: str) -> None:
    """Print the output only if the command fails."""
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
    if result.returncode != 0:
        sys.stderr.buffer.write(result.stdout)


if __name__ == "__main__":
    sys.exit(main())
