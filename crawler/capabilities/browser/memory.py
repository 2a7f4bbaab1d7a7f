"""How much memory a process of Chromium has, where the system tells (Linux, proc(5))."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


def megabytes(pid: int) -> float:
    """Memory of a process in MB, with its part of memory shared with others; 0 if unknown."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def resident_megabytes(pid: int) -> float:
    """All memory of a process in MB, shared or not, which costs less to know; 0 if that cannot be told."""
    with suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_SIZE / 2**20
    return 0.0
