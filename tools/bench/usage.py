"""Knows what a program and all below it use while it crawls with browsers: CPU time, and memory at most.

A browser is many processes, and each page has one that ends with it. Those whose parent ends first are adopted by this
process (Linux), where they count once they have ended, too.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from tools.bench import processes
from tools.subreaper import adopts_orphans

EVERY_S = 1.0  # between two looks at the memory, each of which takes some milliseconds


class Usage:
    """Of these processes and of all below them, while the block is entered. `roots` is asked again and again. What the
    looks themselves cost is not counted."""

    def __init__(self, roots: Callable[[], Iterable[int]]) -> None:
        adopts_orphans()
        self.cpu_seconds = 0.0
        self.peak_bytes = 0  # of shared memory each process has its part
        self._roots = roots
        self._is_over = threading.Event()
        self._looking = 0.0  # CPU seconds that the looks took
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._before = processes.cpu_seconds(self._roots())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cpu_seconds = processes.cpu_seconds(self._roots()) - self._before
        self._is_over.set()
        self._thread.join()
        if os.getpid() in self._roots():
            self.cpu_seconds -= self._looking

    def _look(self) -> None:
        while not self._is_over.wait(EVERY_S):
            used = sum(map(processes.proportional, processes.family(self._roots())))
            self.peak_bytes = max(self.peak_bytes, used)
        self._looking = time.thread_time()
