"""Ends requests whose host slot is about to expire, however long Redis takes to answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

WATCH_INTERVAL_S = 0.5


class SlotWatch:
    """Calls `look` every so often in a thread of its own; `look` must not call Redis. The fetch job and its heartbeat
    may both wait for Redis for longer than a slot lasts."""

    def __init__(self, look: Callable[[], None], every: float = WATCH_INTERVAL_S) -> None:
        self._look, self._every = look, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="slot watch", daemon=True)

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            self._look()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
