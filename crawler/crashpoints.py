"""Crash points: named moments between two steps at which tests kill a process. Not armed in production: a crash point
costs one comparison, and nothing under `python -O`.

docs/protocol.md has a row for each: what it leaves behind, what repairs it, and within how many seconds.
"""

from __future__ import annotations

from collections.abc import Callable

_hook: Callable[[str], None] | None = None


def crash_point(moment: str) -> None:
    """The process has reached this moment."""
    if __debug__ and _hook is not None:
        _hook(moment)


def arm(hook: Callable[[str], None] | None) -> None:
    """Call `hook` with the name of each crash point this process reaches; None disarms."""
    global _hook  # noqa: PLW0603 (one per process)
    _hook = hook
