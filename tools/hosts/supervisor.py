"""The first process of a worker host: it runs services as their unit files say, as systemd does there.

    python -m tools.hosts.supervisor FOLDER

`FOLDER/host.json` says what to run. It begins once `FOLDER/connected` is there: the network has been joined. As process
1 of its own process namespace it is the host's life: killed, it takes every process of the host with it, without a word
to any of them.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.hosts.containers import make_root
from tools.hosts.units import Unit, read_environment

LOOK_EVERY = 0.02  # seconds
BARE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/root"}
"""What systemd gives a service beside what its unit says."""

INJECTED = Path(__file__).parent / "injected"  # its sitecustomize.py is imported by every Python that starts


@dataclass
class Service:
    """A unit and its processes. Times are monotonic seconds."""

    unit: Unit
    log: Path
    extra: Mapping[str, str]
    main: int | None = None
    invocation: str = ""  # in the environment of its processes, as systemd puts it there: tells which are its own
    starts: deque[float] = field(default_factory=lambda: deque(maxlen=100))
    due: float | None = 0.0  # when it is started; None = not again

    def look(self, now: float) -> None:
        if self.main is None and self.due is not None and now >= self.due:
            self._start(now)

    def ended(self, code: int, now: float) -> None:
        """Its main process has ended: the rest of it goes, too, and it is started again if its unit says so."""
        self._say(f"ended with {code}")
        self.main = None
        if self.unit.kill_mode in ("control-group", "mixed"):
            send(self.processes(), signal.SIGKILL)
        again = self.unit.is_restarted(code)
        self.due = now + self.unit.restart_seconds if again else None

    def stop(self) -> None:
        """Ask it to end, as `systemctl stop` does."""
        self.due = None
        number = signal.Signals[self.unit.kill_signal]
        if self.unit.kill_mode == "control-group":
            send(self.processes(), number)
        elif self.unit.kill_mode != "none" and self.main is not None:
            send([self.main], number)

    def processes(self) -> list[int]:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and self._owns(entry)]

    def _owns(self, entry: Path) -> bool:
        try:
            return f"INVOCATION_ID={self.invocation}".encode() in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def _start(self, now: float) -> None:
        if not self.unit.may_start(self.starts, now):
            self._say("start request repeated too quickly: it is given up")
            self.due = None
            return
        self.starts.append(now)
        self.invocation = uuid.uuid4().hex
        environment = {**BARE, **dict(self.unit.environment)}
        for file in self.unit.environment_files:
            environment |= read_environment(Path(file).read_text())
        paths = [table["PYTHONPATH"] for table in (environment, self.extra) if "PYTHONPATH" in table]
        environment |= {**self.extra, "INVOCATION_ID": self.invocation, "PYTHONPATH": os.pathsep.join(paths)}
        self._say("start")
        self.main = os.fork()
        if self.main == 0:
            self._become(environment)

    def _become(self, environment: Mapping[str, str]) -> None:
        try:
            os.setsid()
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            output = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            silence = os.open(os.devnull, os.O_RDONLY)
            if self.unit.root:
                os.chroot(self.unit.root)
            os.chdir(self.unit.directory)
            for target, source in ((0, silence), (1, output), (2, output)):
                os.dup2(source, target)
            os.execve(self.unit.command[0], self.unit.command, dict(environment))  # noqa: S606
        except OSError as error:
            os.write(2, f"{self.unit.command[0]}: {error}\n".encode())
        os._exit(203)  # systemd's EXIT_EXEC

    def _say(self, what: str) -> None:
        with self.log.open("a") as log:
            log.write(f"--- {time.time():.3f} {self.unit.name}: {what}\n")


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # it ended by itself


def supervise(services: list[Service]) -> None:
    """Until SIGTERM; then end all of them."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    while not asked:
        _reap(services)
        for service in services:
            service.look(time.monotonic())
        time.sleep(LOOK_EVERY)
    for service in services:
        service.stop()
    began = time.monotonic()
    while any(service.main is not None for service in services):
        for service in services:
            if service.main is not None and time.monotonic() - began > service.unit.stop_seconds:
                send(service.processes(), signal.SIGKILL)
        _reap(services)
        time.sleep(LOOK_EVERY)


def _reap(services: list[Service]) -> None:
    """Every child that has ended, orphans that came to process 1 among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        for service in services:
            if service.main == pid:
                service.ended(os.waitstatus_to_exitcode(status), time.monotonic())


def main() -> None:
    folder = Path(sys.argv[1])
    told = json.loads((folder / "host.json").read_text())
    socket.sethostname(told["name"])
    if told["root"]:
        make_root(*(Path(path) for path in told["root"]), [INJECTED, Path(sys.prefix), folder.parent])
    units = [Unit(**unit) for unit in told["units"]]
    services = [Service(unit, folder / f"{unit.name}.log", told["extra"]) for unit in units]
    while not (folder / "connected").exists():
        time.sleep(LOOK_EVERY)
    supervise(services)


if __name__ == "__main__":
    main()
