"""Workers that import their modules while the command that started them still prepares the database and Redis.

Python and Django take most of a second to load, as long as a short crawl. Run as a program with the read end of a pipe:
it imports everything, then waits for a message; it exits if the pipe is closed without one. The message says how many
workers it becomes: further ones are forked, which takes milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time

from crawler.launch.process_group import Child, Children, adopts_orphans
from settings.environment import ROOT

COMMAND = (sys.executable, "-m", "rq.cli", "worker", "--quiet", "-w", "crawler.worker.Worker", "crawl", "fetch")
STOP_TIMEOUT_S = 5.0  # seconds a worker has to finish its job
PID_BYTES = 4
FORK_TIMEOUT_S = 10.0  # seconds until forked workers have told their ids; they load first, on a busy machine for long


class PreloadedWorker:
    """A worker that is loading. If it is not needed, `release` it, or let `children` stop it."""

    def __init__(self, children: Children) -> None:
        self._children = children
        reading, self._pipe = os.pipe()
        self._told, telling = os.pipe()
        handed = (reading, telling, children.watched_by)
        preloaded = (sys.executable, "-m", "crawler.launch.preload", *map(str, handed))
        try:
            self._process = children.start(preloaded, output=subprocess.DEVNULL, directory=ROOT, handed=handed)
        finally:
            os.close(reading)
            os.close(telling)

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self, workers: int) -> list[Child]:
        """Let it start work, as so many workers if they can become our children: those that there are, perhaps none."""
        forked = list[Child]()
        number = workers if adopts_orphans() else 1
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, bytes([number]))
            while len(forked) < number - 1 and select.select([self._told], [], [], FORK_TIMEOUT_S)[0]:
                told = os.read(self._told, PID_BYTES)
                if not told:
                    break
                forked.append(self._children.adopt(int.from_bytes(told, "big")))
        self.release()
        return [process for process in (self._process, *forked) if process.poll() is None]

    def release(self) -> None:
        """Close the pipes; the worker exits unless `begin` was called before."""
        if self._pipe >= 0:
            os.close(self._pipe)
            os.close(self._told)
            self._pipe = -1


def main(arguments: list[str]) -> int:
    """1. Import everything. 2. Wait for the message on the first of these descriptors. 3. Fork further workers: each
    tells its id on the second, and reports to the watchdog on the third. 4. Work like one started by COMMAND."""
    from rq.cli.cli import main as work

    import crawler.worker  # noqa: F401  # sets up Django
    from crawler import conf
    from crawler.redis_client import CONNECTION_CLASS

    pipe, telling, watchdog = map(int, arguments)
    message = os.read(pipe, 1)
    if not message:
        return 0
    for _ in range(message[0] - 1):
        if _forked(telling, watchdog):
            break
    for descriptor in (pipe, telling, watchdog):
        os.close(descriptor)
    with (conf.data_dir() / "workers.log").open("ab") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    os.environ["RQ_REDIS_URL"], os.environ["RQ_CONNECTION_CLASS"] = conf.redis_url(), CONNECTION_CLASS
    sys.orig_argv[1:] = COMMAND[1:]  # the command line it restarts with
    work(COMMAND[3:])
    return 0


def _forked(telling: int, watchdog: int) -> bool:
    """True in a new worker. It is no child of this process, which waits for none: see `adopts_orphans`."""
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return False
    between = os.getpid()
    if os.fork():
        os._exit(0)
    os.setsid()
    os.write(watchdog, b"+ %d\n" % os.getpid())
    while os.getppid() == between:
        time.sleep(0.001)
    os.write(telling, os.getpid().to_bytes(PID_BYTES, "big"))
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
