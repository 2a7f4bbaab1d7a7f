"""The Redis server of a run: on a port of its own, writing down every command, killed, rewound and emptied."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import redis

from crawler.launch.embedded_redis import find_program
from crawler.launch.process_group import Children


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class RedisServer:
    """`url` stays the same however often the server is restarted."""

    def __init__(self, children: Children, folder: Path, log: Path) -> None:
        program = find_program(os.environ.get("PATH", os.defpath))
        if program is None:
            raise SystemExit("No Redis server was found: install redis-server.")
        self._children, self._folder, self._log, self._program = children, folder, log, program
        self._process: subprocess.Popen[bytes] | None = None
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.client = redis.Redis.from_url(self.url, socket_timeout=5)

    def settings(self) -> dict[str, str]:
        return {
            "port": str(self._port),
            "bind": "127.0.0.1",
            "dir": str(self._folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "auto-aof-rewrite-percentage": "0",  # so that the file's length tells how much was written when
        }

    def program(self) -> Sequence[str | Path]:
        return [self._program]

    def start(self) -> None:
        self._folder.mkdir(exist_ok=True)
        arguments = [word for name, value in self.settings().items() for word in (f"--{name}", value)]
        command = [*self.program(), *arguments]
        with self._log.open("ab") as log:
            self._process = self._children.start(command, output=log, directory=self._folder)
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 20
        while not self.answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"Redis did not start; see {self._log}")
            time.sleep(0.02)

    def answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:  # not there, or still reading its file
            return False

    def keys(self, pattern: str) -> list[str]:
        """Keys that do not end by themselves."""
        return sorted(_text(key) for key in self.client.keys(pattern) if self.client.ttl(key) == -1)

    def queued(self, queue: str) -> list[str]:
        """Ids of the jobs that wait in RQ's queue."""
        return [_text(job) for job in self.client.lrange(f"rq:queue:{queue}", 0, -1)]

    def started(self, queue: str) -> list[str]:
        """What RQ's registry of started jobs says."""
        return [_text(entry) for entry in self.client.zrange(f"rq:wip:{queue}", 0, -1)]

    def at_work(self) -> dict[int, str]:
        """Process of a worker -> id of its job, as RQ has noted it."""
        found = [self.client.hmget(_text(name), "pid", "current_job") for name in self.client.smembers("rq:workers")]
        return {int(_text(pid)): _text(job) for pid, job in found if pid and job}

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def written(self) -> int:
        """Bytes of the file of commands: to this length it can be rewound."""
        file = self._file()
        return file.stat().st_size if file is not None else 0

    def rewind(self, written: int) -> None:
        """Lose what was written later, as a machine does that loses its power. The server must be dead."""
        file = self._file()
        if file is not None:
            os.truncate(file, written)

    def empty(self) -> None:
        """The server must be dead."""
        shutil.rmtree(self._folder)

    def _file(self) -> Path | None:
        """One file until Redis 6, a folder of them since 7; None while a server that begins empty has made none."""
        files = [*self._folder.glob("appendonly.aof"), *self._folder.glob("appendonlydir/*.incr.aof")]
        return files[-1] if files else None


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
