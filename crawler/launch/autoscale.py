"""As many workers as are useful, within a range; and `manage.py autoscale`, which keeps so many on this machine.

Django's command executes this module as a program in its place: it starts and stops processes, of which commands know
nothing.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence

import django

from crawler.core.errors import ServiceDown
from crawler.launch.process_group import StopSignal
from crawler.launch.supervisor import WORKER, Processes, WorkerRange
from settings.environment import ROOT

CHECK_INTERVAL_S = 1.0


def useful_workers() -> int | None:
    """How many workers would be useful now; None while Redis or the database does not answer. Users are told that an
    autoscaler asked."""
    from django.db import DatabaseError, close_old_connections  # these need Django's settings
    from redis.exceptions import RedisError

    from crawler.frontier.workload import note_autoscaler
    from crawler.queueing import queues
    from crawler.reports.scale import running_and_wanted

    close_old_connections()  # one that an outage broke
    try:
        note_autoscaler(queues.connection())
        return running_and_wanted()[1]
    except (RedisError, DatabaseError, ServiceDown):
        return None


class Autoscaler:
    """`useful` tells how many workers would be useful now, or None while that is not known; `resize` starts and stops
    workers until there are so many."""

    def __init__(self, allowed: WorkerRange, useful: Callable[[], int | None], resize: Callable[[int], object]) -> None:
        self._allowed, self._useful, self._resize = allowed, useful, resize
        self.number = allowed.least

    def check(self) -> bool:
        """Called about once a second; True if the number has changed."""
        useful = None if self._allowed.is_fixed else self._useful()
        number = self.number if useful is None else self._allowed.within(useful)
        if number == self.number:
            return False
        self.number = number
        self._resize(number)
        return True


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(allow_abbrev=False)
    parser.add_argument("range", type=WorkerRange.parse)
    allowed: WorkerRange = parser.parse_args(arguments).range
    stop = StopSignal()
    django.setup()
    with Processes(ROOT / "Procfile", allowed, {**os.environ, "PYTHONUNBUFFERED": "1"}, {WORKER}) as processes:
        autoscaler = Autoscaler(allowed, useful_workers, processes.keep_workers)
        while not stop.wait(CHECK_INTERVAL_S):
            if autoscaler.check():
                print(f"Workers: {autoscaler.number}.", flush=True)
            for end in processes.ended():
                print(f"{end} exited and is replaced{f' in {end.pause:g} s' if end.pause else ''}.", flush=True)
            processes.replace()
    return stop.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
