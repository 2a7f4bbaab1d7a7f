"""A worker that loads what it needs while the command that wants it still looks for a database and a Redis.

Python and Django take most of a second to load, and a short crawl no longer than that. Run as a program, with the
reading end of a pipe: it loads, then waits for a word; without one, when the pipe is closed, it ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

from crawler.launch.process_group import Children
from settings.environment import ROOT

COMMAND = (sys.executable, "-m", "rq.cli", "worker", "--quiet", "-w", "crawler.worker.Worker", "crawl", "fetch")
GRACE = 5.0  # seconds a worker has for the job in its hands
GO = b"go\n"


class EarlyWorker:
    """One that is being loaded. Whoever does not need it leaves it to `children`, or lets it go."""

    def __init__(self, children: Children) -> None:
        reading, self._pipe = os.pipe()
        early = (sys.executable, "-m", "crawler.launch.preload", str(reading))
        try:
            self._process = children.start(early, output=subprocess.DEVNULL, directory=ROOT, handed=(reading,))
        finally:
            os.close(reading)

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self) -> subprocess.Popen[bytes] | None:
        """Let it work; None when it has ended, whatever its reason."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, GO)
        self.let_go()
        return self._process if self._process.poll() is None else None

    def let_go(self) -> None:
        """Without a word before, it ends."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1


def main(arguments: list[str]) -> int:
    """1. Load all. 2. Wait for the word, from this descriptor. 3. Work, as one does that was started by COMMAND."""
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
    sys.orig_argv[1:] = COMMAND[1:]  # what it becomes when it begins anew
    work(COMMAND[3:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
