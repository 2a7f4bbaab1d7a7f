"""Starts Redis and PostgreSQL on loopback for as long as a measurement needs them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.launch.embedded_redis import use_embedded
from crawler.launch.process_group import Children

LOOPBACK = "127.0.0.1"
PATIENCE = 30.0
GRACE = 10.0


class Unavailable(Exception):
    """Something a measurement needs is not on this machine; says what."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        return int(listener.getsockname()[1])


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def own_redis(folder: Path) -> Iterator[str]:
    """The address of a Redis that is started as `bin/crawl` starts its own."""
    with use_embedded(folder) as server:
        yield server.url


@contextmanager
def own_postgresql(folder: Path) -> Iterator[str]:
    """The address of a new, empty database on a server of our own, with its settings as they come.

    Raises Unavailable where there is no server program. PostgreSQL refuses to run as root, so then it is another user.
    """
    programs = postgresql_programs()
    data, port = folder / "postgresql", free_port()
    data.mkdir()
    user = _as_somebody(data)
    folder.chmod(0o711)  # so that this user can enter the folders below
    initdb = [*user, str(programs / "initdb"), "--pgdata", str(data), "--username", "bench", "--auth", "trust"]
    made = subprocess.run(initdb, cwd=data, capture_output=True, text=True, check=False)
    if made.returncode:
        raise Unavailable(f"PostgreSQL's initdb failed: {made.stderr.strip().splitlines()[-1]}")
    settings = {"listen_addresses": LOOPBACK, "port": port, "unix_socket_directories": ""}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with Children(GRACE) as children, (folder / "postgresql.log").open("wb") as log:
        children.start([*user, str(programs / "postgres"), "-D", str(data), *options], output=log, directory=data)
        _wait_until_ready(programs, port)
        yield f"postgres://bench@{LOOPBACK}:{port}/postgres"


def postgresql_pid(folder: Path) -> int:
    """The first process of the server that `own_postgresql` runs for this folder; all the others are below it."""
    return int((folder / "postgresql" / "postmaster.pid").read_text().splitlines()[0])


def postgresql_programs() -> Path:
    """The folder of the server's programs; Debian keeps them off the PATH."""
    newest_first = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = [Path(found).resolve().parent for found in (shutil.which("postgres"),) if found]
    for folder in (*on_path, *newest_first):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise Unavailable("there is no PostgreSQL server program here; name a server by --postgres URL")


def _as_somebody(data: Path) -> list[str]:
    """What to put before a command so that it does not run as root; the folder is given to that user."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        raise Unavailable("PostgreSQL does not run as root, and there is no setpriv to run it as somebody else")
    shutil.chown(data, "nobody")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def _wait_until_ready(programs: Path, port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    question: list[str | Path] = [programs / "pg_isready", "--quiet", "--host", LOOPBACK, "--port", str(port)]
    while subprocess.run(question, check=False).returncode:
        if time.monotonic() > deadline:
            raise Unavailable(f"PostgreSQL did not answer within {PATIENCE:g} seconds")
        time.sleep(0.1)
