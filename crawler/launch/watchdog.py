"""Ends the children of a process once that process is gone, even if it was killed with SIGKILL.

Run as a program with the read end of a pipe as standard input; arguments: the grace in seconds, and perhaps the socket
of a Redis among the children. Only the owners of the children hold the write end, so
end of file means that no owner is left. Lines in the pipe: `+ 123` process group 123 has started, `- 123` it has ended.
Standard library only: it must start in milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable


def main() -> None:
    grace = float(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it stops only when the owners are gone
    groups = living(sys.stdin.buffer)
    os.close(sys.stdin.fileno())  # from here on no process can become another owner
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), b"ending\n")
    for path in sys.argv[2:]:
        shut_down(path)
    end(groups, grace)


def shut_down(path: str) -> None:
    """Have a Redis save its data and exit at once: for signals it looks ten times a second only."""
    import socket  # seldom needed, and slow to import

    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1.0)
        connection.connect(path)
        connection.sendall(b"SHUTDOWN\r\n")


def living(lines: Iterable[bytes]) -> list[int]:
    """Read all lines; return the groups that have started and not ended."""
    groups: list[int] = []
    for line in lines:
        sign, _, number = line.decode().partition(" ")
        if sign == "+":
            groups.append(int(number))
        elif int(number) in groups:
            groups.remove(int(number))
    return groups


def end(groups: list[int], grace: float) -> None:
    """Send SIGTERM to every group, wait at most `grace` seconds, then send SIGKILL to those left."""
    deadline = time.monotonic() + grace
    left = [group for group in groups if send(group, signal.SIGTERM)]
    wait_until(lambda: not any(send(group, 0) for group in left), deadline)
    for group in left:
        send(group, signal.SIGKILL)


def wait_until(is_over: Callable[[], bool], deadline: float) -> None:
    """Ask until it is over, or this time on the monotonic clock has come: at first every millisecond, because most
    programs end at once."""
    pause = 0.001
    while not is_over() and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.2, 0.02)


def send(group: int, number: int) -> bool:
    """Send a signal to a process group; return whether it exists. Signal 0 only tests."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS gives PermissionError for a zombie
        return False
    return True


if __name__ == "__main__":
    main()
