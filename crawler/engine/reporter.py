"""Gathers what a fetch job's threads found, and leaves it for the manager a good second at a time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from crawler.core.work import Batch, PageResult, SliceReport

FLUSH_SECONDS = 1.0  # a slow slice shows what it has found after this
FLUSH_ENDED_SECONDS = 0.3  # one of many that has ended shows that after this: its host waits for the next one
FEW_SLICES = 8  # those of one host end at about the same time
FLUSH_PAGES = 200


class Reporter:
    """`leave` hands reports to the manager; it is called by one thread at a time."""

    def __init__(self, batch: Batch, leave: Callable[[Sequence[SliceReport]], object]) -> None:
        self._batch, self._leave = batch, leave
        self._lock = threading.Lock()
        self._results: dict[int, list[PageResult]] = {number: [] for number in range(len(batch.slices))}
        self._ended: dict[int, tuple[float, int]] = {}  # slice -> next_at, requests
        self._flushed_at = time.monotonic()
        self.outcomes: Counter[str] = Counter()

    def add(self, number: int, result: PageResult) -> None:
        with self._lock:
            self._results[number].append(result)
            self.outcomes[result.outcome.value] += 1
            waiting = sum(len(results) for results in self._results.values())
            if waiting >= FLUSH_PAGES or time.monotonic() - self._flushed_at >= FLUSH_SECONDS:
                self._flush()

    def end(self, number: int, next_at: float, requests: int) -> None:
        """A slice is done: pages without a result were not asked for. Its report goes out with the next flush.
        `requests` were made for robots.txt and belong to no result."""
        with self._lock:
            self._ended[number] = (next_at, requests)

    def flush_old(self) -> None:
        """Leave what is there by now, unless that was done a moment ago."""
        with self._lock:
            age = time.monotonic() - self._flushed_at
            is_awaited = self._ended and len(self._results) > FEW_SLICES
            if age >= FLUSH_SECONDS or (is_awaited and age >= FLUSH_ENDED_SECONDS):
                self._flush()

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        reports = [
            SliceReport(
                batch=self._batch.id,
                token=self._batch.token,
                slice=number,
                host=self._batch.slices[number].host,
                results=tuple(results),
                next_at=self._ended.get(number, (0.0, 0))[0],
                requests=self._ended.get(number, (0.0, 0))[1],
                done=number in self._ended,
            )
            for number, results in self._results.items()
            if results or number in self._ended
        ]
        if reports:
            self._leave(reports)
        for number in self._ended:
            self._results.pop(number)
        for number in self._results:
            self._results[number] = []
        self._ended = {}
        self._flushed_at = time.monotonic()
