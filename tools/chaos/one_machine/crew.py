"""The workers and the web process of a run, and the supervisor that starts the dead ones again, as a process manager
does."""

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
from tests.stack import OWN_WORKER, ROOT, STOCK_WORKER
from tools.chaos.processes import all_pids, children_of, send


class Role(StrEnum):
    STOCK = "stock"  # RQ's own worker, which forks a work-horse for each job
    OWN = "own"  # the project's worker class
    WEB = "web"  # the web process; nobody looks at its pages
    BROWSER = "browser"  # the project's worker class that renders pages
    SCRAPY = "scrapy"  # the project's worker class, for pages that run through Scrapy


COMMANDS = {
    Role.STOCK: STOCK_WORKER,
    Role.OWN: OWN_WORKER,
    Role.BROWSER: ("rq", "worker", "-w", "crawler.browser.worker.BrowserWorker", "render"),
    Role.SCRAPY: ("rq", "worker", "-w", "crawler.worker.Worker", "scrapy"),
    Role.WEB: ("gunicorn", "crawler.settings.wsgi", "--threads", "2", "--no-control-socket", "--bind"),
}

BROWSER_PLACES = 6  # of each browser worker, as of one that is set up as it comes


@dataclass
class Member:
    """One process of the crew, which is started again when it has died."""

    name: str
    role: Role
    command: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None
    begin_at: float = 0.0  # monotonic seconds

    @property
    def pid(self) -> int | None:
        """None while it is dead."""
        return self.process.pid if self.process is not None and self.process.poll() is None else None

    def family(self) -> list[int]:
        """The process and its children: a worker and its work-horse, gunicorn and its workers."""
        pid = self.pid
        return [] if pid is None else [pid, *children_of(pid)]


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
        self.members = [Member(f"{role}-{number}", role, COMMANDS[role]) for number, role in enumerate(roles, start=1)]
        self.web = Member("web", Role.WEB, (*COMMANDS[Role.WEB], web))
        self.members.append(self.web)

    def workers(self, *roles: Role) -> list[Member]:
        wanted = roles or (Role.STOCK, Role.OWN)
        return [member for member in self.members if member.role in wanted]

    def keep(self) -> None:
        """Start those again that are dead, after a pause."""
        self._children.ended()
        if self.held:
            return
        now = time.monotonic()
        for member in self.members:
            if member.pid is not None:
                continue
            if member.process is not None:
                member.process, member.begin_at = None, now + self._dice.uniform(0.3, 1.5)
            elif now >= member.begin_at:
                self.start(member)

    def start(self, member: Member) -> None:
        with (self._folder / f"{member.name}.log").open("ab") as log:
            log.write(f"--- started at {time.time():.3f}\n".encode())
            log.flush()
            member.process = self._children.start(
                member.command, output=log, directory=ROOT, environment=self._environment
            )
        self._sessions.add(member.process.pid)

    def kill(self, member: Member) -> list[int]:
        """kill -9, with all its children; the pids."""
        pids = member.family()
        send(pids, signal.SIGKILL)
        if member.process is not None:
            member.process.wait()
        return pids

    def kill_everybody(self) -> None:
        """Also those whose worker died before them: a session outlives its leader."""
        for _ in range(3):  # somebody may have forked meanwhile
            send([pid for pid in all_pids() if _session(pid) in self._sessions], signal.SIGKILL)
        for member in self.members:
            if member.process is not None:
                member.process.wait()


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return -1
