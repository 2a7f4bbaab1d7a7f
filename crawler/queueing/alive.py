"""A file whose age says whether a worker or the clock is alive, for the health check of a container."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FILE = "CRAWLER_ALIVE_FILE"
"""Environment variable with the path; unset: no file is touched."""


def note() -> None:
    """Say that this process is alive. A full disk must not end it, so an error is what a file that grows old says."""
    if path := os.environ.get(FILE):
        with suppress(OSError):
            Path(path).touch()
