"""Knows how this project is run for a measurement: its services and workers are up, then one crawl is timed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import redis

from crawler.launch.process_group import Children
from crawler.settings.environment import ROOT
from tools.bench import processes
from tools.bench.figures import Cpu
from tools.bench.services import GRACE, own_redis
from tools.bench.versions import driver_in

DATABASE = "db.sqlite3"  # in the data folder
NO_REDIS = "redis://127.0.0.1:1/0"  # for what needs none
PATIENCE = 60.0  # seconds workers have until they are up


class Worker(StrEnum):
    OWN = "own"  # the project's class, as bin/crawl starts it
    STOCK = "stock"  # RQ's, which forks for each job
    BROWSER = "browser"  # renders pages, next to workers of another class


COMMANDS = {
    Worker.OWN: ("-m", "rq.cli", "worker", "--quiet", "-w", "crawler.worker.Worker", "crawl", "fetch"),
    Worker.BROWSER: (
        *("-m", "rq.cli", "worker", "--quiet"),
        *("-w", "crawler.browser.worker.BrowserWorker", "render"),
    ),
    Worker.STOCK: ("-m", "rq.cli", "worker", "--quiet", "crawl", "fetch"),
}


class Failed(Exception):
    """A measured program did not do what it was to do; says what it said last."""


@dataclass
class Stack:
    """Redis, database and workers that wait for a crawl."""

    folder: Path
    python: Path
    environment: Mapping[str, str]
    redis_url: str
    children: Children
    workers: Sequence[subprocess.Popen[bytes]]
    redis_pid: int
    database_pid: int | None = None  # of a database server of our own
    root: Path = ROOT  # of the version that is measured

    def crawl(self, given: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """What the driver says last, and `cpu`: CPU seconds until then (None = not told). `given` as in
        `benchmarks.driver`."""
        before, found = self.cpu(), None
        for line in self.lines(given, timeout):
            if line.get("over"):
                used = self.cpu()
                found = {**line, "cpu": used.minus(before) if used and before else None}
        if found is None:
            raise Failed("the driver ended without a word")
        return found

    def cpu(self) -> Cpu | None:
        """Seconds that all a crawl keeps busy has used so far; None where the system does not tell, and with a
        database server that we have not started. The driver's own process is not in it, but what its looks at the table
        cost the server is."""
        is_elsewhere = "DATABASE_URL" in self.environment and self.database_pid is None
        if is_elsewhere or not processes.ARE_TOLD:
            return None
        database = [] if self.database_pid is None else [self.database_pid]
        return Cpu(
            processes.cpu_seconds(worker.pid for worker in self.workers),
            processes.cpu_seconds([self.redis_pid]),
            processes.cpu_seconds(database),
        )

    def join(self, worker: Worker, settings: Mapping[str, str]) -> int:
        """Start one worker more, with these variables; its process id, once RQ knows it."""
        log = self.folder / f"{worker}.log"
        with redis.Redis.from_url(self.redis_url) as client, log.open("ab") as output:
            known = client.scard("rq:workers")
            command = [str(self.python), *COMMANDS[worker]]
            environment = {**self.environment, **settings}
            started = self.children.start(command, output=output, directory=self.root, environment=environment)
        _wait_for_workers(self.redis_url, known + 1, log)
        return started.pid

    def lines(self, given: Mapping[str, Any], timeout: float) -> Iterator[dict[str, Any]]:
        """What the driver says, as it says it."""
        said = self.folder / "driver.log"
        with said.open("wb") as output:
            command = [str(self.python), "-P", "-m", driver_in(self.root), json.dumps(given)]
            driver = self.children.start(command, output=output, directory=self.root, environment=self.environment)
        deadline = time.monotonic() + timeout
        with said.open() as text:
            while True:
                has_ended = driver.poll() is not None  # asked before reading, so that its last words are read
                for line in text:
                    if line.startswith("{"):
                        yield json.loads(line)
                if has_ended:
                    break
                if time.monotonic() > deadline:
                    raise Failed(f"not finished after {timeout:g} s")
                time.sleep(0.02)
        self.children.ended()
        if driver.returncode:
            raise Failed(last_words(said))


@contextmanager
def stack(
    folder: Path,
    python: Path,
    *,
    workers: int,
    worker: Worker = Worker.OWN,
    database_url: str | None = None,
    database_pid: int | None = None,
    settings: Mapping[str, str] | None = None,
    root: Path = ROOT,
) -> Iterator[Stack]:
    """1. Redis, and the tables unless they are there; a database that is named has them. 2. Workers, until RQ knows
    all of them. `settings`: variables for all of it. `root`: of the version that is measured."""
    folder.mkdir(parents=True, exist_ok=True)
    with own_redis(folder) as redis_url, Children(GRACE) as children:
        environment = {**environment_of(folder, python, redis_url, database_url, root), **(settings or {})}
        if database_url is None and not (folder / DATABASE).exists():
            migrate(python, environment, root)
        with (folder / "workers.log").open("ab") as log:
            started = [
                children.start([str(python), *COMMANDS[worker]], output=log, directory=root, environment=environment)
                for _ in range(workers)
            ]
        redis_pid = _wait_for_workers(redis_url, workers, folder / "workers.log")
        yield Stack(folder, python, environment, redis_url, children, started, redis_pid, database_pid, root)


def whole(url: str, options: Sequence[str], folder: Path, python: Path, timeout: float) -> float:
    """Seconds from the start of `bin/crawl`'s process to its exit, with Redis and workers started and ended in it.

    The folder has the tables in it, as at any start but the first.
    """
    began = time.perf_counter()
    with own_redis(folder) as redis_url:
        before = time.perf_counter() - began
        command = [str(python), "-P", "-m", "crawler.launch.crawl", url, "--allow-private", "--json", *options]
        environment = environment_of(folder, python, redis_url, None)
        ended = run(command, folder / "whole.log", environment, timeout)
    if ended.code:
        raise Failed(last_words(folder / "whole.log"))
    return before + ended.seconds


class Ended(NamedTuple):
    """A program that has been run."""

    code: int
    seconds: float
    cpu_seconds: float  # its own, and of the processes it waited for


def run(command: Sequence[str], output: Path, environment: Mapping[str, str], timeout: float) -> Ended:
    """Runs a program that ends with us, however we end."""
    with Children(GRACE) as children, output.open("wb") as log:
        began, used = time.perf_counter(), processes.ended_cpu_seconds()
        process = children.start(command, output=log, directory=ROOT, environment=environment)
        alarm = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        alarm.daemon = True
        alarm.start()
        try:
            code = process.wait()  # without a timeout: with one, Python looks only every 50 ms
            seconds, used = time.perf_counter() - began, processes.ended_cpu_seconds() - used
        finally:
            alarm.cancel()
    if seconds >= timeout:
        raise Failed(f"not finished after {timeout:g} s")
    return Ended(code, seconds, used)


def environment_of(
    folder: Path, python: Path, redis_url: str, database_url: str | None, root: Path = ROOT
) -> dict[str, str]:
    """Of all the settings, only where things are: the rest is as it comes."""
    ours = ("CRAWLER_", "DJANGO_", "RQ_", "DATABASE_URL", "EMAIL_URL", "SECRET_KEY")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONPATH": str(root),
        "CRAWLER_DATA_DIR": str(folder),
        "REDIS_URL": redis_url,
        "RQ_REDIS_URL": redis_url,
        **({"DATABASE_URL": database_url} if database_url else {}),
    }


def migrate(python: Path, environment: Mapping[str, str], root: Path = ROOT) -> None:
    command: list[str | Path] = [python, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["migrate failed"])[-1])


def with_tables(template: Path, folder: Path, python: Path, root: Path = ROOT) -> Path:
    """The folder, with an empty database in it: made once as `template`, then copied."""
    if not (template / DATABASE).exists():
        template.mkdir(parents=True, exist_ok=True)
        migrate(python, environment_of(template, python, NO_REDIS, None, root), root)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(template / DATABASE, folder / DATABASE)
    return folder


def last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _wait_for_workers(redis_url: str, wanted: int, log: Path) -> int:
    """The process id of the Redis that knows them."""
    deadline = time.monotonic() + PATIENCE
    with redis.Redis.from_url(redis_url) as client:
        while client.scard("rq:workers") < wanted:
            if time.monotonic() > deadline:
                raise Failed(f"the workers did not start: {last_words(log)}")
            time.sleep(0.05)
        redis_pid = int(client.info("server")["process_id"])
    time.sleep(0.3)  # what they do between saying that they are there and waiting for a job
    return redis_pid
