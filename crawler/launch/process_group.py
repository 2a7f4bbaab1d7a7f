"""Processes that end with the one that started them, even when that one is killed without a word.

Each child leads a process group of its own, so Ctrl-C in the terminal reaches only the owner, which ends them in its
own time. A child reports itself to the guardian *before* it becomes the program it is to be: there is no moment in
which the owner can be killed and a child be forgotten.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from crawler.launch import watchdog

_left_to_others: list[subprocess.Popen[bytes]] = []  # they run on for another owner: nobody waits for them here

_REPORT_THEN_BECOME = 'echo "+ $$" >&0 && exec "$@" 0</dev/null'


class Children:
    """The children of this process. `grace`: seconds they have to end by themselves.

    With `meeting_place`, a path for a named pipe, other processes can become owners too (`join`); the children then
    end with the last of the owners. Where the file system knows no named pipes there is one owner.
    """

    def __init__(self, grace: float, meeting_place: Path | None = None) -> None:
        self._grace = grace
        self._processes: list[subprocess.Popen[bytes]] = []
        reading, self._pipe = _named_pipe(meeting_place) if meeting_place else os.pipe()
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__, str(grace)],
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)

    def start(
        self,
        command: Sequence[str | Path],
        *,
        output: int | IO[bytes],
        directory: Path,
        environment: Mapping[str, str] | None = None,
        handed: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start a program; both its outputs go to `output`, its environment is ours unless another is given. The
        descriptors `handed` to it keep their numbers."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", _REPORT_THEN_BECOME, "sh", *command],
            stdin=self._pipe,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=environment,
            pass_fds=handed,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def ended(self) -> list[subprocess.Popen[bytes]]:
        """Those that have ended since this was asked before; they are forgotten here."""
        ended = [process for process in self._processes if process.poll() is not None]
        for process in ended:
            self._forget(process)
        return ended

    def stop(self) -> None:
        """End all of them, and the guardian; returns when they are gone. Nothing can be started afterwards."""
        deadline = time.monotonic() + self._grace
        for process in self._processes:
            watchdog.send(process.pid, signal.SIGTERM)
        while any(_lives(process) for process in self._processes) and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in tuple(self._processes):
            watchdog.send(process.pid, signal.SIGKILL)
            process.wait()
            self._forget(process)
        self.leave()

    def leave(self) -> None:
        """Stop being an owner. With the last one the children end, and then this returns when they are gone."""
        if self._pipe < 0:
            return
        os.close(self._pipe)
        self._pipe = -1
        answer = self._guardian.stdout
        assert answer is not None  # noqa: S101 (a pipe was asked for above)
        with answer:
            if not select.select([answer], [], [], 1.0)[0]:
                _left_to_others.extend([*self._processes, self._guardian])
                return
            for process in self._processes:
                process.wait()  # the guardian saw to that within the grace
            self._guardian.wait()

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        watchdog.send(process.pid, signal.SIGKILL)  # what a program may have left of its group
        self._processes.remove(process)
        with contextlib.suppress(BrokenPipeError):  # the guardian itself was killed
            os.write(self._pipe, b"- %d\n" % process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def join(meeting_place: Path) -> int | None:
    """Become one more owner of the children guarded there: a descriptor to keep open. None = there are none."""
    try:
        return os.open(meeting_place, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # no such pipe, or nobody reads it
        return None


def _lives(process: subprocess.Popen[bytes]) -> bool:
    """Whether anything of its group is left; a shell may be gone before what it started."""
    process.poll()  # takes note of its end, without which it would count for ever
    return watchdog.send(process.pid, 0)


def _named_pipe(path: Path) -> tuple[int, int]:
    """Both ends of a new named pipe, or of a nameless one where there can be no names."""
    try:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writing = os.open(path, os.O_WRONLY)
    except OSError:
        return os.pipe()
    os.set_blocking(reading, True)
    return reading, writing


# Whether somebody asked this command to end: Ctrl-C, SIGTERM, or the terminal that was closed.


class Ending:
    """Listens from the moment it is made. The second signal does not wait for anybody: it ends the process, and the
    guardian ends the rest."""

    def __init__(self) -> None:
        self._signal: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._heard)

    @property
    def asked(self) -> bool:
        return self._signal is not None

    @property
    def exit_code(self) -> int:
        return 128 + self._signal if self._signal else 0

    def wait(self, seconds: float) -> bool:
        """At most so long; whether it was asked."""
        deadline = time.monotonic() + seconds
        while not self.asked and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))  # a signal does not end a sleep, so that it must be short
        return self.asked

    def _heard(self, number: int, _frame: object) -> None:
        if self.asked:
            raise SystemExit(128 + number)
        self._signal = number
