"""A host: namespaces of its own with a supervisor as process 1, which runs services as their units say."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.stack import ROOT
from tools.chaos.hosts.network import Network, address_of
from tools.chaos.hosts.supervisor import INJECTED
from tools.chaos.hosts.units import Unit
from tools.chaos.processes import all_pids, namespace_of, send, state_of


@dataclass
class Host:
    """`units`: the services that it runs. `skew`: seconds its clock is ahead."""

    network: Network
    name: str
    number: int
    folder: Path  # of all hosts
    units: Sequence[Unit] = ()
    skew: float = 0.0
    root: Sequence[Path] = ()  # of containers: the folders that `containers.make_root` is given
    more: Sequence[int] = ()  # further addresses
    pid: int = 0  # of its process 1; 0 while it has no power
    is_cut: bool = False

    @property
    def address(self) -> str:
        return address_of(self.number)

    @property
    def stop_file(self) -> Path:
        """While it is there the next tick of any host stops before it looks at leases."""
        return self.folder / "stop"

    @property
    def has_power(self) -> bool:
        return self.pid != 0

    def power_on(self) -> None:
        folder = self.folder / self.name
        folder.mkdir(exist_ok=True)
        (folder / "connected").unlink(missing_ok=True)
        extra = {"PYTHONPATH": str(INJECTED), "TEST_STOP_FILE": str(self.stop_file)}
        extra |= {"TEST_CLOCK_AHEAD": str(self.skew)} if self.skew else {}
        told = {
            "name": self.name,
            "extra": extra,
            "units": [asdict(unit) for unit in self.units],
            "root": [str(path) for path in self.root],
        }
        (folder / "host.json").write_text(json.dumps(told))
        supervisor = [sys.executable, "-P", "-c", _SUPERVISOR, str(ROOT), str(folder)]
        self.pid = self.network.first_process(self.name, supervisor)
        self.network.plug(self.number, self.pid, self.more)
        self.is_cut = False
        (folder / "connected").touch()

    def cut(self) -> None:
        """Nothing reaches it and nothing leaves it any more; it lives on."""
        self.network.cut(self.number)
        self.is_cut = True

    def join(self) -> None:
        self.network.join(self.number)
        self.is_cut = False

    def vanish(self) -> None:
        """It is gone between two packets: nobody hears of it."""
        self.cut()
        send([self.pid], signal.SIGKILL)
        self.network.unplug(self.number)
        self.pid = 0

    def freeze(self) -> list[int]:
        """Stop all processes but the first; the kernel still answers for them. The pids, for `send`."""
        frozen: list[int] = []
        while new := [pid for pid in self.processes() if pid not in frozen]:  # somebody may have forked meanwhile
            send(new, signal.SIGSTOP)
            frozen += new
        return frozen

    def stopped(self) -> list[int]:
        """Those of its processes that stand still."""
        return [pid for pid in self.processes() if state_of(pid) == "T"]

    def processes(self) -> list[int]:
        """All of them but the first, as this machine counts."""
        mine = namespace_of(self.pid)
        return [pid for pid in all_pids() if pid != self.pid and mine is not None and namespace_of(pid) == mine]


_SUPERVISOR = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tools.chaos.hosts.supervisor import main; main()"
