"""A process with children, for tests that kill it: starts what its arguments name, prints it, and waits."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from crawler.launch.embedded_redis import use_embedded
from crawler.launch.process_group import Children


def own_a_sleeper(folder: Path) -> None:
    with Children(grace=2.0) as children:
        sleeper = children.start(["sleep", "600"], output=subprocess.DEVNULL, directory=folder)
        print(sleeper.pid, flush=True)
        time.sleep(600)


def own_a_stubborn_one(folder: Path) -> None:
    """One that does not hear SIGTERM, with a child of its own."""
    with Children(grace=0.3) as children:
        command = ["sh", "-c", "trap '' TERM; sleep 600 & echo $! > child; wait; wait"]
        stubborn = children.start(command, output=subprocess.DEVNULL, directory=folder)
        while not (folder / "child").exists() or not (folder / "child").read_text().strip():
            time.sleep(0.01)
        print(stubborn.pid, (folder / "child").read_text().strip(), flush=True)
        time.sleep(600)


def own_redis(folder: Path) -> None:
    with use_embedded(folder) as server:
        print(server.owned, flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored
    what, folder = sys.argv[1:]
    match what:
        case "sleeper":
            own_a_sleeper(Path(folder))
        case "stubborn":
            own_a_stubborn_one(Path(folder))
        case _:
            own_redis(Path(folder))
