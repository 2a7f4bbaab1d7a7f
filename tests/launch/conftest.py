"""Owners that can be killed, and queries about processes of other owners."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from tests.stack import ROOT

StartOwner = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start_owner(tmp_path: Path) -> Iterator[StartOwner]:
    """Start `tests.launch.owner`; its first line on stdout says that everything stands."""
    with ExitStack() as ending:

        def start(what: str, *more: str) -> subprocess.Popen[str]:
            owner = subprocess.Popen(
                [sys.executable, "-m", "tests.launch.owner", what, str(tmp_path), *more],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            ending.enter_context(owner)
            ending.callback(owner.kill)
            return owner

        yield start


@pytest.fixture(autouse=True)
def unclaimed_redis(request: pytest.FixtureRequest) -> None:
    """These commands make databases of their own, each of which takes the Redis of all tests for its own."""
    if "redis_url" in request.fixturenames:
        with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
            client.flushall()


def first_line(owner: subprocess.Popen[str]) -> str:
    assert owner.stdout
    return owner.stdout.readline().strip()


def is_alive(pid: int) -> bool:
    """Whether there is such a process, other than one that has ended and was not yet waited for."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(told.strip()) and not told.strip().startswith("Z")


def descendants(pid: int) -> set[int]:
    """Every process below this one, watchdogs among them."""
    told = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in told.splitlines())}
    found: set[int] = set()
    fresh = {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def eventually(what: Callable[[], bool], patience: float = 20.0) -> bool:
    deadline = time.monotonic() + patience
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    return what()


def without_redis(folder: Path) -> str:
    """A PATH with nothing on it."""
    empty = folder / "nothing here"
    empty.mkdir(exist_ok=True)
    return str(empty)


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}


def link_project(folder: Path) -> None:
    """The project's modules in this folder; it becomes that of `.env` and `.data`, which depends on the settings."""
    (folder / "manage.py").touch()  # it is a clone
    (folder / "crawler").mkdir()
    for path in (ROOT / "crawler").iterdir():
        if path.name != "settings":
            (folder / "crawler" / path.name).symlink_to(path)
    shutil.copytree(ROOT / "crawler" / "settings", folder / "crawler" / "settings")
