"""`python -m tests.faults.frozen MOMENT`: one of the project's workers that stops (SIGSTOP) when it comes to a crash
point. Others see of it what they see of a machine that vanished: its connections stay open, and nobody answers."""

import os
import signal
import sys

from crawler import worker as _worker  # isort: skip  # sets up Django, before anything that holds a model
from rq.cli import main

from crawler import crashpoints

LOADED = (_worker,)


def freeze_at(moment: str) -> None:
    """Once: a process that is let go on works like any other."""

    def hook(reached: str) -> None:
        if reached == moment:
            crashpoints.arm(None)
            os.kill(os.getpid(), signal.SIGSTOP)

    crashpoints.arm(hook)


if __name__ == "__main__":
    freeze_at(sys.argv[1])
    main(["worker", "-w", "crawler.worker.Worker", "crawl", "fetch"])
