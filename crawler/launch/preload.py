"""A worker that imports its modules while the command that started it still prepares the database and Redis.

Python and Django take most of a second to load, as long as a short crawl. Run as a program with the read end of a pipe:
it imports everything, then waits for a message; it exits if the pipe is closed without one.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

from crawler.launch.process_group import Children
from settings.environment import ROOT

COMMAND = (sys.executable, "-m", "rq.cli", "worker", "--quiet", "-w", "crawler.worker.Worker", "crawl", "fetch")
STOP_TIMEOUT_S = 5.0  # seconds a worker has to finish its job
GO = b"go\n"


class PreloadedWorker:
    """A worker that is loading. If it is not needed, `release` it, or let `children` stop it."""

    def __init__(self, children: Children) -> None:
        reading, self._pipe = os.pipe()
        preloaded = (sys.executable, "-m", "crawler.launch.preload", str(reading))
        try:
            self._process = children.start(preloaded, output=subprocess.DEVNULL, directory=ROOT, handed=(reading,))
        finally:
            os.close(reading)

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self) -> subprocess.Popen[bytes] | None:
        """Let it start work; None if the process has exited."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, GO)
        self.release()
        return self._process if self._process.poll() is None else None

    def release(self) -> None:
        """Close the pipe; the worker exits unless `begin` was called before."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1


def main(arguments: list[str]) -> int:
    """1. Import everything. 2. Wait for the message on this descriptor. 3. Work like a worker started by COMMAND."""
    from rq.cli.cli import main as work

    import crawler.worker  # noqa: F401  # sets up Django
    from crawler import conf

    pipe = int(arguments[0])
    if os.read(pipe, len(GO)) != GO:
        return 0
    os.close(pipe)
    with (conf.data_dir() / "workers.log").open("ab") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    os.environ["RQ_REDIS_URL"] = conf.redis_url()
    sys.orig_argv[1:] = COMMAND[1:]  # the command line it restarts with
    work(COMMAND[3:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
