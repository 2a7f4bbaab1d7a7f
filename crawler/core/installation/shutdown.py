"""How long a worker takes to end once it was asked to (SIGTERM), and what it does with that time.

At once nothing new is begun, and what was not begun is handed back. Pages under way may still be answered for
PAGE_GRACE_SECONDS; then their connections are closed. A thread that is busy all the same (it parses a long page, or
waits for a name server) is left behind after THREAD_GRACE_SECONDS. The rest is for leaving in Redis what was found. At
STOP_SECONDS the process ends, whatever it is doing.

honcho and `bin/up` kill what has not ended after 5 s, Docker after 10 s: PAGE_GRACE_SECONDS leaves some time before the
first of them. TimeoutStopSec in deploy/systemd is a little longer than STOP_SECONDS.
"""

from __future__ import annotations

from enum import IntEnum

PAGE_GRACE_SECONDS = 3.0
THREAD_GRACE_SECONDS = 8.0
STOP_SECONDS = 10.0
COLD_SECONDS = 1.0  # after a second signal, so that RQ can note the worker's end; then the process is gone


class Phase(IntEnum):
    """What to do with the pages in hand; each goes further than the one before."""

    WORK = 0
    BEGIN_NOTHING = 1
    ABORT = 2  # close the connections of pages under way
    LEAVE = 3  # wait for no thread any longer


def phase(asked_for: float | None) -> Phase:
    """`asked_for`: seconds since the worker was asked to end; None = it was not."""
    if asked_for is None:
        return Phase.WORK
    if asked_for < PAGE_GRACE_SECONDS:
        return Phase.BEGIN_NOTHING
    return Phase.ABORT if asked_for < THREAD_GRACE_SECONDS else Phase.LEAVE
