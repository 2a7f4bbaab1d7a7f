"""Gathers what a fetch job's threads found, and leaves it for the manager a good second at a time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from crawler import logs
from crawler.content.shelf import Shelf, lacks_room, named
from crawler.core.crawl.messages import Batch, PageResult, SliceReport
from crawler.crashpoints import crash_point

FLUSH_SECONDS = 1.0  # a slow slice shows what it has found after this
FLUSH_ENDED_SECONDS = 0.3  # one of many that has ended shows that after this: its host waits for the next one
FLUSH_KEEPING_SECONDS = 3.0  # no sooner where content is kept: each time it becomes objects of their own
FEW_SLICES = 8  # those of one host end at about the same time
FLUSH_PAGES = 200
FIRST_LINKS = 5  # that the job's return value names
FLUSH_CHARACTERS = 4_000_000  # of what they lead to; a page has up to half as many


class Reporter:
    """`leave` hands reports to the manager; it is called by one thread at a time. Content that is to be kept comes with
    the results and is put on the shelf; it is in the storage before a result that refers to it is left. When there is
    no room for it `on_full` is called, and the results without it are not left: their pages are asked for again."""

    def __init__(
        self,
        batch: Batch,
        leave: Callable[[Sequence[SliceReport]], object],
        on_full: Callable[[], object] = lambda: None,
    ) -> None:
        self._batch, self._leave, self._on_full = batch, leave, on_full
        self._shelf = Shelf(batch.crawl, batch.id) if batch.policy.keep else None
        self._patience = FLUSH_KEEPING_SECONDS if self._shelf is not None else 0.0
        self._lock = threading.Lock()
        self._results: dict[int, list[PageResult]] = {number: [] for number in range(len(batch.slices))}
        self._ended: dict[int, tuple[float, int]] = {}  # slice -> next_at, requests
        self._flushed_at = time.monotonic()
        self.outcomes: Counter[str] = Counter()
        self.links = 0  # found, whether they are new or not
        self.first_links: list[str] = []
        self.has_room = self._shelf is None or self._shelf.has_room
        self._characters = 0  # of the links of the results that wait
        self._in_vain = 0  # requests for pages that there was no room for
        if not self.has_room:
            on_full()

    def add(self, number: int, result: PageResult) -> None:
        if logs.tells_urls():
            task = next(task for task in self._batch.slices[number].pages if task.id == result.id)
            logs.tell_url(task, result)
        with self._lock:
            if number not in self._results:
                return  # of a thread that was left behind: its slice has been handed back
            self._results[number].append(self._shelved(result))
            self._count(result)
            waiting = sum(len(results) for results in self._results.values())
            self._characters += sum(map(len, result.links)) + sum(len(entry.url) for entry in result.entries)
            age = time.monotonic() - self._flushed_at
            is_full = self._characters >= FLUSH_CHARACTERS or (self._shelf is not None and self._shelf.is_full)
            if waiting >= FLUSH_PAGES or age >= max(FLUSH_SECONDS, self._patience) or is_full:
                self._flush()

    def _count(self, result: PageResult) -> None:
        found = result.links or tuple(entry.url for entry in result.entries)
        self.outcomes[result.outcome.value] += 1
        self.links += len(found)
        self.first_links += found[: FIRST_LINKS - len(self.first_links)]

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
            if age < self._patience:
                return
            if age >= FLUSH_SECONDS or (is_awaited and age >= FLUSH_ENDED_SECONDS):
                self._flush()

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _count_in_vain(self) -> None:
        """Requests whose results are not left are told with the next slice that ends."""
        number = next(iter(self._ended), None)
        if number is not None and self._in_vain:
            next_at, requests = self._ended[number]
            self._ended[number], self._in_vain = (next_at, requests + self._in_vain), 0

    def _shelved(self, result: PageResult) -> PageResult:
        if self._shelf is None or not result.kept:
            return result
        return msgspec.structs.replace(result, kept=self._shelf.put(result.kept))

    def _take_down(self) -> None:
        """Save what is on the shelf, and tell the results where."""
        if self._shelf is None:
            return
        names = self._shelf.clear()
        for number, results in self._results.items():
            placed = [self._placed(result, names) for result in results]
            self._results[number] = [result for result in placed if not lacks_room(result.kept)]
            self._in_vain += sum(result.requests for result in placed if lacks_room(result.kept))
        if self.has_room and not self._shelf.has_room:
            self._on_full()
        self.has_room = self._shelf.has_room
        crash_point("fetch: content kept")

    def _placed(self, result: PageResult, names: Mapping[str, str | None]) -> PageResult:
        if self._shelf is None or not result.kept:
            return result
        return msgspec.structs.replace(result, kept=named(result.kept, names, has_room=self._shelf.has_room))

    def _flush(self) -> None:
        self._take_down()
        self._count_in_vain()
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
        self._ended, self._characters = {}, 0
        self._flushed_at = time.monotonic()
