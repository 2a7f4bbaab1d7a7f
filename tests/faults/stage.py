"""`python -m tests.faults.stage`: a process that has everything loaded and forks the ones that die, so that each costs
some milliseconds and not a second. Reads one line of JSON for each, answers one: how it ended, and the time by then."""

import gc
import json
import os
import signal
import sys
import traceback
from pathlib import Path

import soupsieve

from crawler import worker as _worker  # isort: skip  # sets up Django, before anything that holds a model
from django.conf import settings

from tests.faults.actor import act
from tests.faults.given import TOO_LATE, GivenClock
from tests.forking import load_the_rest

LOADED = (_worker,)


def main() -> None:
    clock = GivenClock()
    load_the_rest()
    soupsieve.compile("p")  # it makes its regular expressions when it is first used
    gc.freeze()  # or each child's collector looks through all that is loaded, and so copies it
    for line in sys.stdin:
        given = json.loads(line)
        clock.set(given.get("now", clock.now()), given["limit"])
        if "pid" in given:
            pid = int(given["pid"])
            os.kill(pid, signal.SIGCONT)
        else:
            pid = _forked(clock, line)
        print(json.dumps({"pid": pid, "ended": _ended(pid), "now": clock.now()}), flush=True)


def _forked(clock: GivenClock, line: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.dup2(2, 1)
        act(clock, Path(settings.DATA_DIR), line)
        status = 0
    except BaseException:  # noqa: BLE001 (whatever it is, this process must not come back as a second stage)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _ended(pid: int) -> str:
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return "stopped"
    if os.WIFSIGNALED(status):
        return "killed" if os.WTERMSIG(status) == signal.SIGKILL else f"signal {os.WTERMSIG(status)}"
    return {0: "done", TOO_LATE: "too late"}.get(os.waitstatus_to_exitcode(status), "failed")


if __name__ == "__main__":
    main()
