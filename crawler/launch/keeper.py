"""Keeps programs running: one that ends by itself is started again, and one that keeps ending less and less often."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from crawler.launch.children import Children

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
