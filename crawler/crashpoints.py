"""Named moments between two steps, at which tests stop a process for good. Nothing is armed in production: a crash
point costs one comparison, and none at all under `python -O`.

docs/protocol.md has a row for each of them: what is left behind, and who repairs it within how many seconds.
"""

from __future__ import annotations

from collections.abc import Callable

_hook: Callable[[str], None] | None = None


def crash_point(moment: str) -> None:
    """The process has reached this moment."""
    if __debug__ and _hook is not None:
        _hook(moment)


def arm(hook: Callable[[str], None] | None) -> None:
    """From now on `hook` is called with the name of each moment this process reaches; None disarms."""
    global _hook  # noqa: PLW0603 (one per process, like the process's life it ends)
    _hook = hook
