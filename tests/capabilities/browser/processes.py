"""The processes below another one, as Linux tells."""

import os
import time
from collections.abc import Iterable
from pathlib import Path


def below(pid: int) -> set[int]:
    """All descendants of a process that live."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def are_gone(pids: Iterable[int], seconds: float = 20.0) -> bool:
    """Whether all of them end within so many seconds. A zombie that nobody waits for has ended."""
    deadline = time.monotonic() + seconds
    while any(map(_lives, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def command_of(pid: int) -> bytes:
    """Its command line; b"" if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _lives(pid: int) -> bool:
    return _fields(Path(f"/proc/{pid}"))[:1] not in ([], ["Z"])


def _parent(entry: Path) -> int:
    return int((_fields(entry) or ["", "0"])[1])


def _fields(entry: Path) -> list[str]:
    """State, parent and more of a process; [] if there is none."""
    try:
        return os.fsdecode((entry / "stat").read_bytes()).rpartition(")")[2].split()
    except OSError:
        return []
