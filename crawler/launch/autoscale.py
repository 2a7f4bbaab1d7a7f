"""As many workers as are useful, within a range; and `manage.py autoscale`, which keeps so many on this machine.

Autoscalers on several machines share the useful number of workers, see `frontier.autoscalers`.

Django's command executes this module as a program in its place: it starts and stops processes, of which commands know
nothing.
"""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import django
from redis import Redis

from crawler.core.errors import ServiceDown
from crawler.frontier.autoscalers import Membership
from crawler.launch.process_group import StopSignal
from crawler.launch.supervisor import WORKER, Processes, WorkerRange
from crawler.queueing import alive
from crawler.settings.environment import ROOT

CHECK_INTERVAL_S = 1.0

COMMAND = shlex.join([sys.executable, "-P", "-m", "crawler.launch.worker"])
"""Of one worker: what `bin/worker` runs. The container image has neither that nor the Procfile."""


def useful_workers(announce: Callable[[Redis], object] = lambda redis: None) -> int | None:
    """How many workers would be useful now; None while Redis or the database does not answer. `announce` is called
    before."""
    from django.db import DatabaseError, close_old_connections  # these need Django's settings
    from redis.exceptions import RedisError

    from crawler.queueing import queues
    from crawler.reports.scale import running_and_wanted

    try:
        announce(queues.connection())
        return running_and_wanted(CHECK_INTERVAL_S)[1]
    except (RedisError, DatabaseError, ServiceDown):
        return None
    finally:
        close_old_connections()  # one that an outage broke, or that is not used any more


@contextmanager
def useful_workers_here(allowed: WorkerRange) -> Iterator[Callable[[], int | None]]:
    """A function that tells how many of the useful workers are to run on this machine; None while that is not known.
    Call it about once a second: the other autoscalers, and users who wait for a worker, are told that this one runs.
    Afterwards the others take over its workers at once."""
    from redis.exceptions import RedisError

    from crawler.frontier import workload
    from crawler.queueing import queues

    membership = Membership(allowed.least, allowed.most)
    figure: workload.ShownFigure | None = None
    is_known = False

    def announce(redis: Redis) -> None:
        if membership.beat(redis) and figure:
            workload.restore_figure(redis, figure)

    def useful() -> int | None:
        nonlocal figure, is_known
        wanted = useful_workers(announce)
        is_known = wanted is not None
        if wanted is None:
            return None
        with suppress(RedisError):
            figure = workload.shown_figure(queues.connection())
        return membership.share(wanted)

    try:
        yield useful
    finally:
        if is_known:  # else Redis does not answer, and the others notice that it is silent
            with suppress(RedisError):
                membership.leave(queues.connection())


class Autoscaler:
    """`useful` tells how many workers would be useful here now, or None while that is not known; `resize` starts and
    stops workers until there are so many."""

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
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": path}
    with (
        Processes(ROOT / "Procfile", allowed, variables, commands={WORKER: COMMAND}) as processes,
        useful_workers_here(allowed) as useful,
    ):
        autoscaler = Autoscaler(allowed, useful, processes.keep_workers)
        while not stop.wait(CHECK_INTERVAL_S):
            alive.note()
            if autoscaler.check():
                print(f"Workers: {autoscaler.number}.", flush=True)
            for end in processes.ended():
                print(f"{end} exited and is replaced{f' in {end.pause:g} s' if end.pause else ''}.", flush=True)
            processes.replace()
    return stop.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
