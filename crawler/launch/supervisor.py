"""Runs programs and restarts those that exit, after growing pauses if they keep exiting; runs the Procfile's
processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from honcho.colour import get_colours
from honcho.environ import ProcessParams, expand_processes, parse_procfile
from honcho.printer import Message, Printer

from crawler.core.installation.deployment import STOP_SECONDS
from crawler.launch.process_group import Child, Children
from crawler.launch.worker import NAMED_BY_HONCHO

STABLE_AFTER_S = 10.0  # a program that ran at least this long is restarted at once
MAX_RESTART_PAUSE_S = 30.0  # longest pause before a program that keeps exiting is restarted


@dataclass(eq=False)
class ManagedProcess:
    """A program to keep running, and its current process. Times are on the monotonic clock."""

    name: str
    start: Callable[[], Child]
    process: Child | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)
    due_at: float = field(default=0.0, init=False)  # not started before
    pause: float = field(default=0.0, init=False)  # before the next start; more than 0 = it keeps exiting
    is_retired: bool = field(default=False, init=False)  # it was asked to exit, and is not started again


@dataclass(frozen=True)
class ExitedProcess:
    """A program that exited by itself."""

    name: str
    exit_code: int
    pause: float  # seconds until it is restarted; more than 0 = it had not run for long

    def __str__(self) -> str:
        return f"{self.name} (exit code {self.exit_code})"


class Supervisor:
    """Programs that are started by `fill`, in order. The owner of `children` stops them."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._managed: list[ManagedProcess] = []

    def add(self, managed: ManagedProcess) -> None:
        self._managed.append(managed)

    def __len__(self) -> int:
        return len(self._managed)

    def retire(self, managed: ManagedProcess) -> None:
        """Ask a program to exit, and do not start it again."""
        managed.is_retired = True
        if managed.process is None:
            self._managed.remove(managed)
        else:
            self._children.retire(managed.process)

    @property
    def idle(self) -> int:
        """How many programs are not running."""
        return sum(managed.process is None for managed in self._managed)

    def fill(self, first: int | None = None) -> None:
        """Start the programs that are not running and are due; only of the `first` so many, if not of all."""
        for managed in self._managed[:first]:
            if managed.process is None and time.monotonic() >= managed.due_at:
                managed.process, managed.started_at = managed.start(), time.monotonic()

    def ended(self) -> list[ExitedProcess]:
        """The programs that exited by themselves since the last call."""
        gone = {process.pid: process.returncode or 0 for process in self._children.ended()}
        exited = {
            managed: gone[managed.process.pid]
            for managed in self._managed
            if managed.process and managed.process.pid in gone
        }
        self._managed = [managed for managed in self._managed if not (managed.is_retired and managed in exited)]
        return [_exited(managed, code) for managed, code in exited.items() if not managed.is_retired]


def next_pause(ran: float, pause: float) -> float:
    """Seconds to wait before a program is restarted that ran for `ran` seconds after a pause of `pause`."""
    return 0.0 if ran >= STABLE_AFTER_S else min(MAX_RESTART_PAUSE_S, max(1.0, pause * 2))


def _exited(managed: ManagedProcess, exit_code: int) -> ExitedProcess:
    now = time.monotonic()
    managed.pause = next_pause(now - managed.started_at, managed.pause)
    managed.process, managed.due_at = None, now + managed.pause
    return ExitedProcess(managed.name, exit_code, managed.pause)


WORKER = "worker"  # the kind of which there may be several
STOP_TIMEOUT_S = STOP_SECONDS + 1.0  # seconds the processes have to exit after SIGTERM


AUTO = "auto"


@dataclass(frozen=True)
class WorkerRange:
    """From `least` to `most` workers; a fixed number if both are equal."""

    least: int
    most: int

    @classmethod
    def parse(cls, typed: str) -> WorkerRange:
        """ "3", "0-8" or "auto" (1 to the number of cores). Raises ArgumentTypeError."""
        if typed.strip().lower() == AUTO:
            return cls(1, max(1, os.cpu_count() or 1))
        least, dash, most = typed.partition("-")
        numbers = [number.strip() for number in (least, most if dash else least)]
        if not all(number.isascii() and number.isdigit() for number in numbers):
            raise ArgumentTypeError(f"it must be a number of workers, a range such as 0-8, or {AUTO}, not {typed!r}")
        found = cls(int(numbers[0]), int(numbers[1]))
        if found.least > found.most:
            raise ArgumentTypeError(f"the range {typed} ends before it begins")
        return found

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most

    def within(self, wanted: int) -> int:
        return min(max(wanted, self.least), self.most)


class Processes:
    """The Procfile's processes: started and stopped together, restarted when they exit, their output printed by line.

    `workers`: how many of the kind WORKER. `environment`: complete; its PORT is for the first kind. `kinds`: only
    these, if not all. `commands`: of each kind, in place of the Procfile's; they run in its folder."""

    def __init__(
        self,
        procfile: Path,
        workers: WorkerRange,
        environment: Mapping[str, str],
        kinds: Collection[str] | None = None,
        commands: Mapping[str, str] | None = None,
    ) -> None:
        known = commands or parse_procfile(procfile.read_text()).processes
        chosen = {kind: command for kind, command in known.items() if kinds is None or kind in kinds}
        wanted = expand_processes(chosen, {WORKER: workers.most}, dict(environment))
        self._directory = procfile.parent
        self._printer: Any = Printer(sys.stdout, width=max((len(each.name) for each in wanted), default=0))
        self._printing = threading.Lock()
        self._readers: list[threading.Thread] = []
        self._children = Children(STOP_TIMEOUT_S)
        self._supervisor = Supervisor(self._children)
        self._workers = list[ManagedProcess]()  # those that are kept running
        self._spare = list[ManagedProcess]()  # workers that could be, the next one last
        for each, colour in zip(wanted, get_colours(), strict=False):  # an endless generator
            managed = ManagedProcess(each.name, partial(self._start, each, colour))
            if each.name.startswith(f"{WORKER}."):
                self._spare.insert(0, managed)
            else:
                self._supervisor.add(managed)
        self.keep_workers(workers.least)

    def __enter__(self) -> Self:
        try:
            self._supervisor.fill()
        except BaseException:
            self._children.stop()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self._children.stop()
        self._read_rest()

    def keep_workers(self, number: int) -> None:
        """Have `replace` start workers until there are so many, or ask those that were started last to exit."""
        while len(self._workers) < number and self._spare:
            managed = self._spare.pop()
            self._workers.append(managed)
            self._supervisor.add(managed)
        while len(self._workers) > number:
            managed = self._workers.pop()
            self._supervisor.retire(managed)
            self._spare.append(replace(managed))

    def ended(self) -> list[ExitedProcess]:
        """The programs that exited since the last call; their last lines have been printed."""
        ended = self._supervisor.ended()
        if ended:
            self._read_rest()
        return ended

    def replace(self) -> None:
        """Restart the programs that exited and are due."""
        self._supervisor.fill()

    def _start(self, wanted: ProcessParams, colour: str) -> subprocess.Popen[bytes]:
        process = self._children.start(
            ["/bin/sh", "-c", wanted.cmd],
            output=subprocess.PIPE,
            directory=self._directory,
            environment={name: value for name, value in wanted.env.items() if name != NAMED_BY_HONCHO},
        )
        reader = threading.Thread(target=self._show, args=(wanted.name, colour, process), daemon=True)
        reader.start()
        self._readers.append(reader)
        return process

    def _read_rest(self) -> None:
        """Print the last lines of exited processes; do not wait for running ones."""
        for reader in self._readers:
            reader.join(0.2)
        self._readers = [reader for reader in self._readers if reader.is_alive()]

    def _show(self, name: str, colour: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout  # noqa: S101 (a pipe was asked for)
        with process.stdout:
            for line in process.stdout:
                now = datetime.now(UTC).astimezone()
                with self._printing:
                    self._printer.write(Message(type="line", data=line, time=now, name=name, colour=colour))
