"""Outlives its owner by a moment: ends the owner's children once the owner is gone, however it went.

Run as a program of its own, with the reading end of a pipe as standard input. The owner alone holds the other end (or
a few owners that share the children), so end of file means that none is left, even after kill -9. Lines in the pipe:
`+ 123` the process group 123 has begun, `- 123` it has ended. Standard library only: it must start in milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable


def main() -> None:
    grace = float(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # only the owner's end counts
    groups = living(sys.stdin.buffer)
    os.close(sys.stdin.fileno())  # from here on nobody can become another owner
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), b"ending\n")
    end(groups, grace)


def living(lines: Iterable[bytes]) -> list[int]:
    """The groups that began and did not end, once there are no more lines."""
    groups: list[int] = []
    for line in lines:
        sign, _, number = line.decode().partition(" ")
        if sign == "+":
            groups.append(int(number))
        elif int(number) in groups:
            groups.remove(int(number))
    return groups


def end(groups: list[int], grace: float) -> None:
    """Ask every group to end, wait at most `grace` seconds, then end what is left."""
    deadline = time.monotonic() + grace
    left = [group for group in groups if send(group, signal.SIGTERM)]
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [group for group in left if send(group, 0)]
    for group in left:
        send(group, signal.SIGKILL)


def send(group: int, number: int) -> bool:
    """Signal a process group; whether there is one. Signal 0 only asks."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS denies what has ended and was not yet waited for
        return False
    return True


if __name__ == "__main__":
    main()
