"""Redis servers with settings of their own, on loopback: with TLS, users, replicas, sentinels."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.conftest import free_port, redis_binary

SERVICE = "crawls"
DOWN_AFTER_MS = 2000  # a sentinel takes a silent server for dead

Process = subprocess.Popen[bytes]


@contextmanager
def serving(
    folder: Path, *lines: str, port: int | None = None, mode: Sequence[str] = (), program: str = ""
) -> Iterator[Process]:
    """A server with these lines as its configuration; it may not be ready yet. `port` is that for plain connections,
    `program` another one than the Redis of all tests."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "redis.conf"
    file.write_text("\n".join([f"port {port or 0}", "bind 127.0.0.1", f"dir {folder}", *lines, ""]))
    with (folder / "redis.log").open("ab") as log:
        process = subprocess.Popen([program or redis_binary(), str(file), *mode], stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def wait_until(what: Callable[[], object], seconds: float = 20.0) -> None:
    """Until it is true; a server that does not answer is waited for."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if what():
                return
        except redis.ConnectionError:
            pass
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def answers(port: int) -> Callable[[], object]:
    def ping() -> object:
        with redis.Redis(port=port) as client:
            return client.ping()

    return ping


class Installation:
    """A primary and a replica, watched by three sentinels. `processes` and `ports` are in this order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = [free_port() for _ in range(2)]
        self.sentinels = [free_port() for _ in range(3)]
        self.processes: list[Process] = []

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(f'127.0.0.1:{port}' for port in self.sentinels)}/{SERVICE}"

    @contextmanager
    def serving(self) -> Iterator[Installation]:
        primary, replica = self.ports
        quiet = ["save ''", "repl-diskless-sync-delay 0"]
        with serving(self.folder / "primary", *quiet, port=primary) as first:
            wait_until(answers(primary))
            with serving(self.folder / "replica", *quiet, f"replicaof 127.0.0.1 {primary}", port=replica) as second:
                self.processes = [first, second]
                wait_until(lambda: self.info(replica)["master_link_status"] == "up")
                with self._watching(0), self._watching(1), self._watching(2):
                    wait_until(self._is_watched)
                    yield self

    @contextmanager
    def _watching(self, number: int) -> Iterator[None]:
        watch = [
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.ports[0]} 2",
            f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}",
            f"sentinel failover-timeout {SERVICE} 10000",
        ]
        folder = self.folder / f"sentinel-{number}"
        with serving(folder, *watch, port=self.sentinels[number], mode=["--sentinel"]):
            yield

    def _is_watched(self) -> bool:
        """Whether every sentinel knows the replica and both others."""
        for port in self.sentinels:
            with redis.Redis(port=port) as client:
                known = client.sentinel_masters()[SERVICE]
                if (known["num-slaves"], known["num-other-sentinels"]) != (1, 2):
                    return False
        return True

    def info(self, port: int) -> dict[str, object]:
        with redis.Redis(port=port) as client:
            return dict(client.info("replication"))

    def is_primary(self, port: int) -> bool:
        return self.info(port)["role"] == "master"
