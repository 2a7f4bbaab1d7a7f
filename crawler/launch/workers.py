"""Keeps RQ workers running for as long as one command needs them, and no longer."""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from redis import RedisError

from crawler.core.errors import ServiceDown
from crawler.launch.preload import COMMAND, GRACE, EarlyWorker
from crawler.launch.process_group import Children
from crawler.launch.services import RedisServer
from crawler.launch.supervisor import Keeper, Place
from settings.environment import ROOT

DEFAULT = 2
PATIENCE = 3  # looks in a row that found no worker before our own are started

log = logging.getLogger(__name__)


class Workers:
    """Workers beside one command. `wanted`: how many; None = 2, but only while nobody else's are there.

    A thread looks after them once a second: one that ended is replaced, and when the workers of another command went
    away with it, ours take over. The embedded Redis is looked after in the same round. An `early` worker, one of these
    `children`, is the first, if any is wanted.
    """

    def __init__(
        self,
        wanted: int | None,
        *,
        live: Callable[[], int],
        redis: RedisServer,
        log_file: Path,
        children: Children | None = None,
        early: EarlyWorker | None = None,
    ) -> None:
        self._may_take_over = wanted is None
        self._live = live
        self._redis = redis
        self._log_file = log_file
        self._children = children or Children(GRACE)
        self._early = early
        self._keeper = Keeper(self._children)
        self._lonely_looks = 0
        self._has_complained = False
        self._end = threading.Event()
        self._caretaker = threading.Thread(target=self._take_care, name="workers", daemon=True)
        self._add(DEFAULT if wanted is None and live() == 0 else wanted or 0)

    def __enter__(self) -> Self:
        try:
            self._keeper.fill()
            if self._early:
                self._early.let_go()
            self._caretaker.start()
        except BaseException:
            self._children.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._caretaker.join()
        self._children.stop()

    def _add(self, count: int) -> None:
        for number in range(1, count + 1):
            self._keeper.add(Place(f"worker {number}", self._start))

    def _start(self) -> subprocess.Popen[bytes]:
        early, self._early = self._early, None
        if early and (process := early.begin()):
            return process
        with self._log_file.open("ab") as output:
            return self._children.start(COMMAND, output=output, directory=ROOT)

    def _take_care(self) -> None:
        while not self._end.wait(1.0):
            try:
                self._look()
            except (ServiceDown, RedisError, OSError) as error:
                log.warning("%s", error)

    def _look(self) -> None:
        """1. Redis. 2. Our workers; say it once when they do not stay. 3. Nobody's workers are left: start ours."""
        self._redis.revive()
        in_trouble = [end for end in self._keeper.ended() if end.pause > 1.0]
        if in_trouble and not self._has_complained:
            self._has_complained = True
            log.warning("%s keeps ending. What it says is in %s.", in_trouble[0], self._log_file)
        if len(self._keeper) == 0 and self._may_take_over:
            self._lonely_looks = 0 if self._live() else self._lonely_looks + 1
            if self._lonely_looks >= PATIENCE:
                self._add(DEFAULT)
        self._keeper.fill()
