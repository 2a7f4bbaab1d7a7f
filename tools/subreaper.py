"""Has this process adopt those below it whose parent exits, so that they are seen. See prctl(2), Linux."""

from __future__ import annotations

import ctypes

_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def adopts_orphans() -> bool:
    """Adopt them, instead of the system's first process; False where that is not possible."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
