"""Runs RQ workers for as long as one command needs them."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Self

from redis import RedisError

from crawler.core.errors import ServiceDown
from crawler.core.politeness.host_rules import slices_at_once
from crawler.core.protocol.lanes import Lane
from crawler.launch.autoscale import Autoscaler
from crawler.launch.embedded_redis import RedisServer
from crawler.launch.process_group import Child, Children
from crawler.launch.supervisor import ManagedProcess, Supervisor, WorkerRange
from crawler.launch.worker import command
from crawler.settings.environment import ROOT

COMMAND = (sys.executable, "-m", "rq.cli", "worker", "--quiet", "-w", "crawler.worker.Worker", "crawl", "fetch")
STOP_TIMEOUT_S = 5.0  # seconds a worker has to finish its job
DEFAULT_WORKERS = 2
DEFAULT_RANGE = WorkerRange(DEFAULT_WORKERS, max(DEFAULT_WORKERS, os.cpu_count() or 1))
IDLE_CHECKS = 3  # consecutive checks without any worker before our own are started

log = logging.getLogger(__name__)


def usual_range(delay: float) -> WorkerRange:
    """How many workers a crawl with this delay in seconds is given: one at first if its hosts are requested over one
    connection each, or two, which are needed at once and started together. More come as they are useful, up to the
    number of cores."""
    one_connection = slices_at_once(delay, DEFAULT_WORKERS) == 1
    return WorkerRange(1, DEFAULT_RANGE.most) if one_connection else DEFAULT_RANGE


class Workers:
    """Workers of one command. `wanted`: how many; None = the least of the range `usual`, later as many of it as
    were `useful`, but only while no other workers are running. All of them stay until the command ends.

    A thread checks them once a second: it restarts a worker that exited, starts our own workers when workers of another
    command have ended with it, and revives the embedded Redis. Each of `lanes` has a worker in addition. With
    `at_first`, only so many are started at once; `complete` starts the others, and then the thread.
    """

    def __init__(
        self,
        wanted: int | None,
        *,
        live: Callable[[], int],
        redis: RedisServer,
        log_file: Path,
        fork: Callable[[Children, Path], Child] | None = None,
        usual: WorkerRange = DEFAULT_RANGE,
        useful: Callable[[], int | None] = lambda: None,
        lanes: Sequence[Lane] = (),
        at_first: int | None = None,
    ) -> None:
        self._may_take_over = wanted is None
        self._usual = usual
        self._autoscaler = Autoscaler(usual, useful, self._grow)
        self._live = live
        self._redis = redis
        self._log_file = log_file
        self._fork, self._at_first = fork, at_first
        self._context = copy_context()  # that of the workers, also of those that a command starts
        self._children = Children(STOP_TIMEOUT_S)
        self._supervisor = Supervisor(self._children)
        self._lane_children = Children(STOP_TIMEOUT_S) if lanes else self._children  # each has a watchdog
        self._of_lanes = Supervisor(self._lane_children)
        for lane in lanes:
            self._of_lanes.add(ManagedProcess(f"{lane.name} worker", partial(self._start_for, lane)))
        self._idle_checks = 0
        self._has_warned = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="workers", daemon=True)
        self._add(usual.least if wanted is None and live() == 0 else wanted or 0)

    def __enter__(self) -> Self:
        try:
            self._supervisor.fill(self._at_first)
            self._of_lanes.fill()
            if self._at_first is None:
                self.complete()
        except BaseException:
            self._stop()
            raise
        return self

    @property
    def are_complete(self) -> bool:
        return self._supervisor.idle == 0

    def complete(self) -> None:
        """Start the workers that were not started at first. Repeating it changes nothing."""
        if self._thread.ident is None:
            self._context.run(self._supervisor.fill)
            self._fork = None  # from here on there is a second thread
            self._thread.start()

    def __exit__(self, *raised: object) -> None:
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._stop()

    def _stop(self) -> None:
        self._lane_children.stop()
        self._children.stop()

    def _add(self, count: int) -> None:
        for _ in range(count):
            self._supervisor.add(ManagedProcess(f"worker {len(self._supervisor) + 1}", self._start))

    def _grow(self, number: int) -> None:
        self._add(number - len(self._supervisor))

    def _start(self) -> Child:
        if self._fork:
            return self._fork(self._children, self._log_file)
        with self._log_file.open("ab") as output:
            return self._children.start(COMMAND, output=output, directory=ROOT)

    def _start_for(self, lane: Lane) -> Child:
        with self._log_file.open("ab") as output:
            return self._lane_children.start(command(1, lane=lane), output=output, directory=ROOT)

    def _run(self) -> None:
        while not self._end.wait(1.0):
            try:
                self._check()
            except (ServiceDown, RedisError, OSError) as error:
                log.warning("%s", error)

    def _check(self) -> None:
        """1. Redis. 2. Our workers; warn once if they keep exiting. 3. If no workers are left: start our own; if there
        are some: as many more as are useful."""
        self._redis.revive()
        ended = [*self._supervisor.ended(), *(self._of_lanes.ended() if len(self._of_lanes) else ())]
        in_trouble = [end for end in ended if end.pause > 1.0]
        if in_trouble and not self._has_warned:
            self._has_warned = True
            log.warning("%s keeps exiting. Its log is %s.", in_trouble[0], self._log_file)
        if len(self._supervisor) == 0 and self._may_take_over:
            self._idle_checks = 0 if self._live() else self._idle_checks + 1
            if self._idle_checks >= IDLE_CHECKS:
                self._add(self._usual.least)
        elif self._may_take_over:
            self._autoscaler.check()
        self._supervisor.fill()
        self._of_lanes.fill()
