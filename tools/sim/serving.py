"""Starts the simulated web as a process of its own, reads its log, and ends it."""

import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.stack import ROOT
from tools.sim.log import Log
from tools.sim.world import World


class Serving:
    """A web that is being served."""

    def __init__(self, world: World, control: int) -> None:
        self.world, self._control = world, control

    def log(self) -> Log:
        return msgspec.msgpack.decode(self._tell("log"), type=Log)

    def forget(self) -> None:
        """Begin anew: nothing was ever asked."""
        self._tell("forget")

    def _tell(self, what: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._control}/{what}", timeout=60) as answer:
            told: bytes = answer.read()
        return told


@contextmanager
def serving(world: World, folder: Path) -> Iterator[Serving]:
    """Serve this world until the block ends; the log is then in `folder`, for those who want to look at it."""
    file = folder / f"world-{world.port}.msgpack"
    file.write_bytes(msgspec.msgpack.encode(world))
    command = [sys.executable, "-m", "tools.sim.server", str(file), "--log", str(file.with_suffix(".log"))]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            control = process.stdout.readline().strip()
            if not control:
                raise RuntimeError(f"the simulated web did not start (exit code {process.wait()})")
            yield Serving(world, int(control))
        finally:
            process.terminate()
            process.wait(30)


def free_port() -> int:
    """A port for a world: free on 127.0.0.1, and so most likely on the other addresses of loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
