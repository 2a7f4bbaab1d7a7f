"""Renews a fetch job's lease in a separate thread, however long a page takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from redis.exceptions import RedisError

from crawler.frontier.leases import LEASE_TTL_S, RENEW_INTERVAL_S


class Heartbeat:
    """Calls `renew` every few seconds. `lost` is set when it returns False or fails for LEASE_TTL_S: then the lease may
    belong to another job, and no further page may be fetched."""

    def __init__(self, renew: Callable[[], bool], every: float = RENEW_INTERVAL_S) -> None:
        self._renew, self._every = renew, every
        self._stop = threading.Event()
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.lost = threading.Event()

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            try:
                alive = self._renew()
            except RedisError:
                self._failures += 1
                alive = self._failures * self._every < LEASE_TTL_S
            else:
                self._failures = 0
            if not alive:
                self.lost.set()
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
