"""Keeps programs running: one that ends by itself is started again, and one that keeps ending less and less often."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from honcho.colour import get_colours
from honcho.environ import ProcessParams, expand_processes, parse_procfile
from honcho.printer import Message, Printer

from crawler.launch.process_group import Children

SOON = 10.0  # seconds a program must have run for its end to be no sign of trouble
LONGEST_PAUSE = 30.0  # seconds before a program in trouble is tried again, at most


@dataclass
class Place:
    """A program that should run, and what runs there now. Times are on the monotonic clock."""

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)
    due_at: float = field(default=0.0, init=False)  # not to be started earlier
    pause: float = field(default=0.0, init=False)  # before the next start; more than 0 = in trouble


@dataclass(frozen=True)
class End:
    """A program ended by itself."""

    name: str
    exit_code: int
    pause: float  # seconds until it is started again; more than 0 = it had not run for long

    def __str__(self) -> str:
        return f"{self.name} (exit code {self.exit_code})"


class Keeper:
    """The places are filled by `fill`, in order; ending the children is their owner's business."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._places: list[Place] = []

    def add(self, place: Place) -> None:
        self._places.append(place)

    def __len__(self) -> int:
        return len(self._places)

    def fill(self) -> None:
        """Start what does not run and whose time has come."""
        for place in self._places:
            if place.process is None and time.monotonic() >= place.due_at:
                place.process, place.started_at = place.start(), time.monotonic()

    def ended(self) -> list[End]:
        """What ended since this was asked before."""
        gone = {process.pid: process.returncode for process in self._children.ended()}
        return [
            _vacate(place, gone[place.process.pid])
            for place in self._places
            if place.process and place.process.pid in gone
        ]


def next_pause(ran: float, pause: float) -> float:
    """Seconds to wait before a program that ran for `ran` seconds, after a wait of `pause`, is started again."""
    return 0.0 if ran >= SOON else min(LONGEST_PAUSE, max(1.0, pause * 2))


def _vacate(place: Place, exit_code: int) -> End:
    now = time.monotonic()
    place.pause = next_pause(now - place.started_at, place.pause)
    place.process, place.due_at = None, now + place.pause
    return End(place.name, exit_code, place.pause)


# The Procfile's processes: started together, shown line by line, replaced when one ends, ended together.

GRACE = 8.0  # seconds they have to end by themselves


class Processes:
    """`counts`: how many of a kind, where it is not one. `environment`: whole; PORT in it is the first kind's."""

    def __init__(self, procfile: Path, counts: Mapping[str, int], environment: Mapping[str, str]) -> None:
        kinds = parse_procfile(procfile.read_text()).processes
        wanted = expand_processes(kinds, counts, dict(environment))
        self._directory = procfile.parent
        self._printer: Any = Printer(sys.stdout, width=max(len(each.name) for each in wanted))
        self._printing = threading.Lock()
        self._readers: list[threading.Thread] = []
        self._children = Children(GRACE)
        self._keeper = Keeper(self._children)
        for each, colour in zip(wanted, get_colours(), strict=False):  # there are colours without end
            self._keeper.add(Place(each.name, partial(self._start, each, colour)))

    def __enter__(self) -> Self:
        try:
            self._keeper.fill()
        except BaseException:
            self._children.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._children.stop()
        self._read_rest()

    def ended(self) -> list[End]:
        """What ended by itself since this was asked before; its last lines have been shown."""
        ended = self._keeper.ended()
        if ended:
            self._read_rest()
        return ended

    def replace(self) -> None:
        """Start again what has ended, where its time has come."""
        self._keeper.fill()

    def _start(self, wanted: ProcessParams, colour: str) -> subprocess.Popen[bytes]:
        process = self._children.start(
            ["/bin/sh", "-c", wanted.cmd],
            output=subprocess.PIPE,
            directory=self._directory,
            environment=wanted.env,
        )
        reader = threading.Thread(target=self._show, args=(wanted.name, colour, process), daemon=True)
        reader.start()
        self._readers.append(reader)
        return process

    def _read_rest(self) -> None:
        """Let what the ended ones said last be shown; those that run are not waited for."""
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
