"""A network of hosts on this machine: namespaces joined by a bridge that stands in a namespace of its own.

Namespaces have no names here. Each lives as long as the first process of its host, so that nothing is left of a run
however it ended, and two runs at once never meet. Addresses are 10.77.0.NUMBER.

A host that is *cut off* keeps its link, but the bridge forwards nothing to it and from it: no packet, no reset, no
"unreachable". Neighbours are entered by hand for the same reason: behind a router nobody would learn from a missing
answer to ARP, after three seconds, that a machine is gone.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from crawler.launch.process_group import Children
from tools.chaos.processes import children_of

NETWORK = "10.77.0"
MOST_HOSTS = 30
FORWARDING, DISABLED = 3, 0  # states of a bridge's port, see bridge(8)
NAMESPACES = ("--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
PATIENCE = 20.0  # seconds a namespace has to come up
_CLONE_NEWNET = 0x40000000

T = TypeVar("T")


class Unavailable(Exception):
    """This machine lacks something that is needed; the message names it."""


def check_usable() -> None:
    """Raises Unavailable where namespaces cannot be made; tried, because containers differ."""
    if os.uname().sysname != "Linux" or os.geteuid() != 0:
        raise Unavailable("hosts are made of Linux's namespaces, which takes root on Linux")
    bridge = "ip link add br0 type bridge && ip link add p1 type veth peer name q1 && ip link set p1 master br0 up"
    trial = f"{bridge} && ip link set br0 up && bridge link set dev p1 state {DISABLED}"
    try:
        made = subprocess.run(
            ["unshare", *NAMESPACES, "sh", "-c", trial], capture_output=True, text=True, check=False, timeout=30
        )
    except OSError as error:
        raise Unavailable(f"unshare (package util-linux) cannot be run: {error.strerror}") from None
    if made.returncode:
        raise Unavailable(f"network namespaces cannot be used here: {made.stderr.strip() or 'unshare failed'}")


def address_of(number: int) -> str:
    return f"{NETWORK}.{number}"


def _mac_of(number: int) -> str:
    return f"02:00:0a:4d:00:{number:02x}"


class Network:
    """The bridge, and the hosts that are plugged into it by number."""

    def __init__(self, children: Children, folder: Path) -> None:
        self._children, self._folder = children, folder
        self._switch = self.first_process("switch", ["sleep", "infinity"])
        self._in_switch("link add br0 type bridge forward_delay 0 stp_state 0", "link set br0 up", "link set lo up")

    def first_process(self, name: str, command: Sequence[str]) -> int:
        """Start a command as process 1 of new namespaces; its pid as this machine counts."""
        with (self._folder / f"{name}.init.log").open("ab") as log:
            outer = self._children.start(["unshare", *NAMESPACES, *command], output=log, directory=self._folder)
        deadline = time.monotonic() + PATIENCE
        while not (found := children_of(outer.pid)) or not _is_inside(found[0]):
            if time.monotonic() > deadline or outer.poll() is not None:
                raise RuntimeError(f"the namespaces of {name} did not come up")
            time.sleep(0.005)
        return found[0]

    def plug(self, number: int, pid: int, more: Sequence[int] = ()) -> None:
        """Give the namespace of this process a link with the address of a number, and of `more` numbers."""
        mac = _mac_of(number)
        self._in_switch(
            f"link add p{number} type veth peer name eth0 address {mac} netns {pid}",
            f"link set p{number} master br0 up",
        )
        _ip(
            pid,
            "link set lo up",
            *(f"addr add {address_of(n)}/24 dev eth0" for n in (number, *more)),
            "link set eth0 up",
            *(
                f"neigh replace {address_of(n)} lladdr {_mac_of(_owner(n))} dev eth0 nud permanent"
                for n in range(1, MOST_HOSTS)
                if _owner(n) != number
            ),
        )

    def unplug(self, number: int) -> None:
        """The link is gone for good, and what the kernel still wished to send over it."""
        self._in_switch(f"link del p{number}")

    def cut(self, number: int) -> None:
        self._port(number, DISABLED)

    def join(self, number: int) -> None:
        self._port(number, FORWARDING)

    def _port(self, number: int, state: int) -> None:
        _within(self._switch, ["bridge", "link", "set", "dev", f"p{number}", "state", str(state)])

    def _in_switch(self, *commands: str) -> None:
        _ip(self._switch, *commands)


def _owner(number: int) -> int:
    """The host that has an address: sites have ten of them."""
    return number - number % 10 if number >= SITES else number


SITES = 20
"""The number of the host of sites; its further addresses are the nine that follow."""


def inside(pid: int, work: Callable[[], T]) -> T:
    """Do something in the network of this process: a socket made there stays there."""
    found: list[T] = []
    errors: list[BaseException] = []

    def enter() -> None:
        try:
            with Path(f"/proc/{pid}/ns/net").open() as namespace:
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            found.append(work())
        except BaseException as error:  # noqa: BLE001 (raised again, by the caller)
            errors.append(error)

    thread = threading.Thread(target=enter)  # only this thread moves there, and it ends
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return found[0]


def _is_inside(pid: int) -> bool:
    """Whether it has become its command, in namespaces of its own."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        ours, its = Path("/proc/self/ns/net").readlink(), Path(f"/proc/{pid}/ns/net").readlink()
        return name != "unshare" and its != ours
    except OSError:
        return False


def _ip(pid: int, *commands: str) -> None:
    _within(pid, ["ip", "-batch", "-"], "\n".join(commands))


def _within(pid: int, command: Sequence[str], said: str = "") -> None:
    done = subprocess.run(
        ["nsenter", f"--net=/proc/{pid}/ns/net", *command], input=said, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}\n{said}")
