"""A process that has loaded what a worker of the project loads, and forks one whenever a test asks for it.

A worker needs more than a second of CPU for its imports. A test of what workers do, and not of how one starts, takes a
forked one. The process serves one folder and one Redis: what a worker reads from its environment is read once.

Protocol: a JSON array a line on stdin, a JSON value a line on stdout.
  ["fork", path of the log, argument, ...]  starts a worker; answers its process id
  ["poll", process id]                      answers the exit code, or null while it runs
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from crawler.registry import CAPABILITIES, entries

ROOT = Path(__file__).resolve().parent.parent
LOOK_EVERY_S = 0.02


class ForkedWorker:
    """A worker, with the methods of `subprocess.Popen` that the tests use."""

    def __init__(self, forker: Forker, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._forker = forker

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._forker.ask("poll", self.pid)
        return self.returncode

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(["forked worker"], timeout)
            time.sleep(LOOK_EVERY_S)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forker:
    """The process, as a test sees it; it is started when the first worker is wanted."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self._process: subprocess.Popen[str] | None = None

    def fork(self, log: Path, *command: str) -> ForkedWorker:
        return ForkedWorker(self, self.ask("fork", str(log), *command))

    def ask(self, *words: Any) -> Any:
        process = self._process = self._process or self._started()
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{json.dumps(words)}\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.forking"],
            cwd=ROOT,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self) -> None:
        if self._process:
            self._process.communicate(timeout=10)  # it ends with its input
            self._process = None


def serve() -> None:
    """Until there is no more input."""
    # Both are slow to import, and a test that imports this module needs neither; the second sets up Django.
    from rq.cli import main

    from crawler import worker

    assert worker
    load_the_rest()
    gc.freeze()  # or the collector of each worker looks through all that is loaded, and so copies it
    for line in sys.stdin:
        match json.loads(line):
            case ["fork", log, *command]:
                answer = os.fork()
                if answer == 0:
                    work(main, log, command)
                with suppress(OSError):  # it has done so itself
                    os.setpgid(answer, answer)
            case ["poll", pid]:
                found, status = os.waitpid(pid, os.WNOHANG)
                answer = os.waitstatus_to_exitcode(status) if found else None
        print(json.dumps(answer), flush=True)


def load_the_rest() -> None:
    """What a job loads when it comes to it, and each process that is forked before would load again."""
    for seam in {seam for name in CAPABILITIES for seam in import_module(f"crawler.capabilities.{name}").SEAMS}:
        entries(seam, object)
    for name in (
        *("_strptime", "django.db.models.sql.compiler"),
        *("crawler.capabilities.hooks.crawl_parts", "crawler.fetcher.xpath.evaluator"),
    ):
        import_module(name)


def work(main: Callable[[], Any], log: str, command: list[str]) -> NoReturn:
    """What the command would do in a process of its own: group, streams, arguments and random numbers are new."""
    os.setpgid(0, 0)
    nothing, written = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for descriptor, number in ((nothing, 0), (written, 1), (written, 2)):
        os.dup2(descriptor, number)
    random.seed()
    sys.argv, sys.orig_argv[1:] = command, ["-m", "rq.cli", *command[1:]]  # the second: what it becomes when it is worn
    code = 1

    def end() -> None:
        """Last of all, when its threads have ended: to take apart what was loaded costs more than a worker's start."""
        sys.stdout.flush()
        os._exit(code)

    atexit.register(end)
    try:
        main()
    except SystemExit as ending:
        code = int(ending.code or 0)
    sys.exit(code)


if __name__ == "__main__":
    serve()
