"""Programs on this machine: Debian's packages, commands of limited time, and a network namespace."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PACKAGES = (
    *("podman", "netavark", "aardvark-dns", "iptables", "nftables", "runc"),
    *("debootstrap", "python3-venv", "ca-certificates", "iproute2", "util-linux"),
)
PODMAN_NETWORKS = "/run/containers"
LINES_SHOWN = 25  # of a command that failed


class Failed(Exception):
    """A step that did not work; says which."""


class Machine:
    """Runs programs. Each has a limited time, and all of them end by the deadline. What they print is in the log."""

    def __init__(self, log: Path, seconds: float) -> None:
        self.log = log
        self.deadline = time.monotonic() + seconds
        self.variables: dict[str, str] = {}
        self.folder = Path("/")

    def run(self, *command: str, limit: float = 60, check: bool = True, stdin: str | None = None) -> str:
        """What it wrote to stdout. Raises Failed unless it ends in `limit` seconds and, with `check`, with code 0."""
        _, output = self.ended(*command, limit=limit, check=check, stdin=stdin)
        return output

    def ended(self, *command: str, limit: float = 60, check: bool = False, stdin: str | None = None) -> tuple[int, str]:
        """Its exit code and what it wrote to stdout. Raises Failed as `run` does."""
        limit = min(limit, self.deadline - time.monotonic())
        if limit <= 0:
            raise Failed(f"There was no time left for: {shlex.join(command)}")
        started = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=self.folder,
            env={**os.environ, **self.variables},
            start_new_session=True,
        )
        try:
            output, errors = started.communicate(stdin, timeout=limit)
        except BaseException as error:  # Ctrl-C, too
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f"It did not end in {limit:.0f} s: {shlex.join(command)}") from None
            raise
        with self.log.open("a") as log:
            log.write(f"$ {shlex.join(command)}\n{output}{errors}exit code {started.returncode}\n")
        if check and started.returncode:
            shown = "\n".join((output + errors).splitlines()[-LINES_SHOWN:])
            raise Failed(f"Exit code {started.returncode} of: {shlex.join(command)}\n{shown}")
        return started.returncode, output


def missing(packages: Sequence[str] = PACKAGES) -> list[str]:
    """Those of these packages of Debian's that are not installed."""
    told = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *packages],
        check=False,
        capture_output=True,
        text=True,
    )
    installed = {line.split()[0] for line in told.stdout.splitlines() if line.endswith(" installed")}
    return [name for name in packages if name not in installed]


class Network:
    """A network namespace: ports and firewall rules in it meet none of the machine's. It leads nowhere else.

    With it goes a mount namespace, in which the folder where podman keeps track of networks is empty: there a name
    server of other containers would be asked to serve ours.
    """

    def __init__(self, machine: Machine, seconds: float) -> None:
        kinds = ("--net", "--mount", "--propagation=slave")
        self._holder = subprocess.Popen(["unshare", *kinds, "sleep", str(seconds)], start_new_session=True)
        self.within = ("nsenter", f"--target={self._holder.pid}", "--net", "--mount", f"--wdns={machine.folder}")
        own = Path("/proc/self/ns/net").readlink()
        end = time.monotonic() + 10
        while self._namespace() in (own, None):
            if self._holder.poll() is not None or time.monotonic() > end:
                raise Failed("A network namespace could not be made.")
            time.sleep(0.05)
        machine.run(*self.within, "ip", "link", "set", "lo", "up")
        Path(PODMAN_NETWORKS).mkdir(parents=True, exist_ok=True)
        machine.run(*self.within, "mount", "-t", "tmpfs", "none", PODMAN_NETWORKS)

    def _namespace(self) -> Path | None:
        with suppress(OSError):
            return Path(f"/proc/{self._holder.pid}/ns/net").readlink()
        return None

    def end(self) -> None:
        self._holder.kill()
        self._holder.wait()


def processes_naming(folder: Path) -> list[str]:
    """The command lines of processes that name this folder, such as those that watch its containers."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if str(folder) in line and int(process.name) != os.getpid():
                found.append(line)
    return found


def mounts_below(folder: Path) -> list[str]:
    """Where something is mounted in this folder, the innermost first."""
    places = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return sorted((place for place in places if Path(place).is_relative_to(folder)), reverse=True)
