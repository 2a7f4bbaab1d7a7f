"""The first process of a worker host: it runs services as their unit files say, as systemd does there.

    python -m tools.chaos.hosts.supervisor FOLDER

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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.chaos.hosts.containers import make_root
from tools.chaos.hosts.units import Unit, read_environment
from tools.chaos.processes import send

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
    due: float | None = 0.0  # when it is started; None = not again

    def look(self, now: float) -> None:
        if self.main is None and self.due is not None and now >= self.due:
            self._start()

    def ended(self, code: int, now: float) -> None:
        """Its main process has ended: the rest of it goes, too, and it is started again unless it was stopped."""
        self._say(f"ended with {code}")
        self.main = None
        send(self.processes(), signal.SIGKILL)
        if self.due is not None:
            self.due = now + self.unit.restart_seconds

    def stop(self) -> None:
        """Ask it to end, as `systemctl stop` does."""
        self.due = None
        send([self.main] if self.main is not None else [], signal.Signals[self.unit.stop_signal])

    def processes(self) -> list[int]:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and self._owns(entry)]

    def _owns(self, entry: Path) -> bool:
        try:
            return f"INVOCATION_ID={self.invocation}".encode() in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def _start(self) -> None:
        self.invocation = uuid.uuid4().hex
        environment = {**BARE, **dict(self.unit.environment)}
        if self.unit.environment_file:
            environment |= read_environment(Path(self.unit.environment_file).read_text())
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
