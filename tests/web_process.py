"""The web process as the Procfile starts it, and clients that speak to it by sockets of their own."""

import shlex
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from tests.conftest import free_port
from tests.stack import ROOT, Stack

COMMAND = (ROOT / "Procfile").read_text().splitlines()[0].removeprefix("web: ")
LOOPBACK = "127.0.0.1"


class WebProcess:
    """One that runs."""

    def __init__(self, stack: Stack, *arguments: str) -> None:
        self.stack, self.port = stack, free_port()
        command = shlex.split(COMMAND.replace("${PORT:-8000}", str(self.port)))
        self.process = stack.spawn(*command, "--log-level", "warning", *arguments)
        stack.wait_for(self._answers)

    def _answers(self) -> bool:
        try:
            return self.seconds_of("/healthz") >= 0
        except OSError:
            return False

    def seconds_of(self, path: str) -> float:
        """How long a request took that was answered with 200; TimeoutError after ten seconds."""
        began = time.monotonic()
        connection = HTTPConnection(LOOPBACK, self.port, timeout=10)
        try:
            connection.request("GET", path)
            assert connection.getresponse().status == 200
        finally:
            connection.close()
        return time.monotonic() - began

    def open(self, sent: bytes = b"") -> socket.socket:
        client = socket.create_connection((LOOPBACK, self.port), timeout=10)
        client.sendall(sent)
        return client

    @contextmanager
    def held(self, number: int, sent: bytes) -> Iterator[list[socket.socket]]:
        """So many connections that have sent this and send nothing more."""
        clients = [self.open(sent) for _ in range(number)]
        try:
            time.sleep(0.3)  # until the process has read it
            yield clients
        finally:
            for client in clients:
                client.close()


@contextmanager
def web_process(folder: Path, redis_url: str, *arguments: str, **settings: str) -> Iterator[WebProcess]:
    """With these arguments after those of the Procfile."""
    stack = Stack(folder, redis_url, **settings)
    stack.redis.flushall()
    try:
        yield WebProcess(stack, *arguments)
    finally:
        stack.end()


def dribble_until_closed(client: socket.socket, patience: float) -> bytes:
    """Send a byte each half second until the server ends it; returns its response."""
    client.settimeout(0.5)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            client.sendall(b"a")
            return client.recv(4096)
        except TimeoutError:
            continue
        except OSError:
            return b""
    raise AssertionError(f"the connection lived for more than {patience:g} s")
