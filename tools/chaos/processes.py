"""The processes of a chaos run, and the supervisor that starts the dead ones again, as a process manager does."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from crawler.launch.process_group import Children
from tests.stack import ROOT


class Role(StrEnum):
    STOCK = "stock"  # RQ's own worker, which forks a work-horse for each job
    OWN = "own"  # the project's worker class
    WEB = "web"  # the web process; nobody looks at its pages
    BROWSER = "browser"  # the project's worker class that renders pages
    SCRAPY = "scrapy"  # the project's worker class, for pages that run through Scrapy


COMMANDS = {
    Role.STOCK: ("rq", "worker", "crawl", "fetch"),
    Role.OWN: ("rq", "worker", "-w", "crawler.worker.Worker", "crawl", "fetch"),
    Role.BROWSER: ("rq", "worker", "-w", "crawler.browser.worker.BrowserWorker", "render"),
    Role.SCRAPY: ("rq", "worker", "-w", "crawler.worker.Worker", "scrapy"),
    Role.WEB: ("gunicorn", "settings.wsgi", "--threads", "2", "--no-control-socket", "--bind"),
}

BROWSER_PLACES = 6  # of each browser worker, as of one that is set up as it comes


@dataclass
class Place:
    """Where one process runs, and when it is started again."""

    name: str
    role: Role
    command: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None
    begin_at: float = 0.0  # monotonic seconds
    began_at: float = 0.0

    @property
    def pid(self) -> int | None:
        """None while it is dead."""
        return self.process.pid if self.process is not None and self.process.poll() is None else None


class Crew:
    """Workers and the web process. `keep` is to be called often. While `held`, nobody is started again."""

    def __init__(
        self,
        children: Children,
        folder: Path,
        environment: Mapping[str, str],
        roles: Sequence[Role],
        web: str,
        dice: Random,
    ) -> None:
        self._children, self._folder, self._environment, self._dice = children, folder, environment, dice
        self._sessions: set[int] = set()
        self.held = False
        self.places = [Place(f"{role}-{number}", role, COMMANDS[role]) for number, role in enumerate(roles, start=1)]
        self.places.append(Place("web", Role.WEB, (*COMMANDS[Role.WEB], web)))

    def workers(self, *roles: Role) -> list[Place]:
        wanted = roles or (Role.STOCK, Role.OWN)
        return [place for place in self.places if place.role in wanted]

    @property
    def web(self) -> Place:
        return self.places[-1]

    def keep(self) -> None:
        """Start those again that are dead, after a pause."""
        self._children.ended()
        if self.held:
            return
        now = time.monotonic()
        for place in self.places:
            if place.pid is not None:
                continue
            if place.process is not None:
                place.process, place.begin_at = None, now + self._dice.uniform(0.3, 1.5)
            elif now >= place.begin_at:
                self.start(place)

    def start(self, place: Place) -> None:
        with (self._folder / f"{place.name}.log").open("ab") as log:
            log.write(f"--- started at {time.time():.3f}\n".encode())
            log.flush()
            place.process = self._children.start(
                place.command, output=log, directory=ROOT, environment=self._environment
            )
        self._sessions.add(place.process.pid)
        place.began_at = time.monotonic()

    def kill(self, place: Place) -> list[int]:
        """kill -9, with all its children; the pids."""
        pids = family(place)
        send(pids, signal.SIGKILL)
        if place.process is not None:
            place.process.wait()
        return pids

    def kill_everybody(self) -> None:
        """Also those whose worker died before them: a session outlives its leader."""
        for _ in range(3):  # somebody may have forked meanwhile
            send([pid for pid in all_pids() if _session(pid) in self._sessions], signal.SIGKILL)
        for place in self.places:
            if place.process is not None:
                place.process.wait()


def family(place: Place) -> list[int]:
    """The process and its children: a worker and its work-horse, gunicorn and its workers."""
    pid = place.pid
    return [] if pid is None else [pid, *children_of(pid)]


def children_of(pid: int) -> list[int]:
    """Work-horses lead a process group of their own, so a signal to the group does not reach them."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
        pairs = [line.split() for line in listed.splitlines()]
        return [int(child) for child, parent in pairs if int(parent) == pid]


def all_pids() -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid="], check=True, capture_output=True, text=True).stdout
    return [int(pid) for pid in listed.split()]


def send(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # it ended by itself


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return -1
