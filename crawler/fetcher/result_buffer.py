"""Buffers the results of a batch, and pushes them for the manager about once a second; sooner if it would idle."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from crawler import logs
from crawler.core.politeness.handover import report_wait
from crawler.core.protocol.lanes import SlotLane, lane_of_batch
from crawler.core.protocol.messages import SLOT_LANE_VERSION, USUAL_VERSION, Batch, PageResult, SliceReport
from crawler.crashpoints import crash_point
from crawler.fetcher.job_work import JobWork
from crawler.storage.content.shelf import Shelf, lacks_room, named

FLUSH_INTERVAL_S = 1.0
FLUSH_ENDED_AFTER_S = 0.3  # if a slice has ended and there are many: its host waits for the next slice
FLUSH_TOGETHER_AFTER_S = 0.1  # if another buffer of the job is flushed
FLUSH_CONTENT_INTERVAL_S = 3.0  # at least, with content capture: each flush writes separate objects
FEW_SLICES = 8  # slices of one host end at about the same time
FLUSH_PAGES = 200
MAX_SUMMARY_LINKS = 5  # in the job's return value
SLOWER, FASTER = 0.2, 0.5  # of the recent response time that the last response makes up: some are slow at any host
FLUSH_CHARACTERS = 4_000_000  # of link URLs; a page has up to half as many


class ResultBuffer:
    """`push_reports` hands reports to the manager. Content that is to be kept comes with the results and is put on the
    shelf; it is in the storage before a result that refers to it is left. When there is no room for it `on_full` is
    called, and the results without it are not left: their pages are asked for again. `needs_links` says whether few
    pages wait to be handed out."""

    def __init__(
        self,
        batch: Batch,
        job: JobWork,
        push_reports: Callable[[Sequence[SliceReport]], object],
        on_full: Callable[[], object] = lambda: None,
        needs_links: Callable[[], bool] = lambda: True,
    ) -> None:
        self._batch, self._job, self._push_reports, self._on_full = batch, job, push_reports, on_full
        self._needs_links = needs_links
        self._shelf = Shelf(batch.crawl, batch.id) if batch.policy.keep else None
        self._min_interval = FLUSH_CONTENT_INTERVAL_S if self._shelf is not None else 0.0
        self._has_slot = isinstance(lane_of_batch(batch.id), SlotLane)
        self._results: dict[int, list[PageResult]] = {number: [] for number in range(len(batch.slices))}
        self._ended: dict[int, tuple[float, int]] = {}  # slice -> next_at, requests
        self._flushed_at = time.monotonic()
        self._seconds = job.recent.seconds
        self.outcomes: Counter[str] = Counter()
        self.links = 0  # found, new or not
        self.first_links: list[str] = []
        self.has_room = self._shelf is None or self._shelf.has_room
        self._characters = 0  # of the buffered links
        self._wasted_requests = 0  # requests for pages whose content could not be stored
        if not self.has_room:
            on_full()

    def add(self, number: int, result: PageResult) -> None:
        if logs.logs_urls():
            task = next(task for task in self._batch.slices[number].pages if task.id == result.id)
            logs.log_url(task, result)
        self._results[number].append(self._shelved(result))
        self._count(result)
        if result.http_status is not None:
            self._note(result.elapsed_ms / 1000)
        waiting = sum(len(results) for results in self._results.values())
        self._characters += sum(map(len, result.links)) + sum(len(entry.url) for entry in result.entries)
        age = time.monotonic() - self._flushed_at
        is_full = self._characters >= FLUSH_CHARACTERS or (self._shelf is not None and self._shelf.is_full)
        interval = 0.0 if self._has_slot else FLUSH_INTERVAL_S  # other slots wait for the links of a page
        if waiting >= FLUSH_PAGES or age >= max(interval, self._min_interval) or is_full:
            self.flush()

    @property
    def ended(self) -> int:
        """Slices that have ended and are not reported."""
        return len(self._ended)

    @property
    def is_of_slow_hosts(self) -> bool:
        return self._job.is_slow(self._seconds)

    @property
    def is_awaited(self) -> bool:
        """Whether its job is hungry, see `core.politeness.handover`."""
        return self._job.is_hungry(self._seconds)

    def _note(self, seconds: float) -> None:
        share = SLOWER if seconds > self._seconds else FASTER
        self._seconds += (seconds - self._seconds) * (share if self._seconds else 1.0)
        self._job.recent.seconds = self._seconds

    def _count(self, result: PageResult) -> None:
        found = result.links or tuple(entry.url for entry in result.entries)
        self.outcomes[result.outcome.value] += 1
        self.links += len(found)
        self.first_links += found[: MAX_SUMMARY_LINKS - len(self.first_links)]

    def end(self, number: int, next_at: float, requests: int) -> None:
        """A slice is done: pages without a result were not fetched. Its report is part of the next flush. `requests`
        were made for robots.txt and belong to no result."""
        self._ended[number] = (next_at, requests)

    def is_due(self) -> bool:
        """Whether it should be flushed now."""
        age = time.monotonic() - self._flushed_at
        if age < self._min_interval or not (self._ended or any(self._results.values())):
            return False
        has_many = self._ended and len(self._results) > FEW_SLICES
        is_late = age >= FLUSH_INTERVAL_S or (has_many and age >= FLUSH_ENDED_AFTER_S)
        return is_late or (self.is_awaited and self._is_prompt(age))

    def flush_old(self) -> None:
        """Flush because another buffer of the job is flushed: one tick does. Not if this one was a moment ago."""
        if time.monotonic() - self._flushed_at >= max(self._min_interval, FLUSH_TOGETHER_AFTER_S):
            self.flush()

    def _is_prompt(self, age: float) -> bool:
        """Whether a hungry job reports so many seconds after the last time."""
        wait = report_wait(self._seconds, len(self._job.schedule), has_ended=bool(self._ended))
        return age >= wait and (bool(self._ended) or self._needs_links())

    def flush_ended(self) -> None:
        """Flush if a slice has ended: its worker shuts down, and others are to go on with what it hands back."""
        if self._ended:
            self.flush()

    def _count_wasted_requests(self) -> None:
        """Requests whose results were dropped are counted with the next slice that ends."""
        number = next(iter(self._ended), None)
        if number is not None and self._wasted_requests:
            next_at, requests = self._ended[number]
            self._ended[number], self._wasted_requests = (next_at, requests + self._wasted_requests), 0

    def _shelved(self, result: PageResult) -> PageResult:
        if self._shelf is None or not result.kept:
            return result
        return msgspec.structs.replace(result, kept=self._shelf.put(result.kept))

    def _store_content(self) -> None:
        """Store the captured content, and write its names into the results."""
        if self._shelf is None:
            return
        names = self._shelf.clear()
        for number, results in self._results.items():
            placed = [self._placed(result, names) for result in results]
            self._results[number] = [result for result in placed if not lacks_room(result.kept)]
            self._wasted_requests += sum(result.requests for result in placed if lacks_room(result.kept))
        if self.has_room and not self._shelf.has_room:
            self._on_full()
        self.has_room = self._shelf.has_room
        crash_point("fetch: content kept")

    def _placed(self, result: PageResult, names: Mapping[str, str | None]) -> PageResult:
        if self._shelf is None or not result.kept:
            return result
        return msgspec.structs.replace(result, kept=named(result.kept, names, has_room=self._shelf.has_room))

    def flush(self) -> None:
        self._store_content()
        self._count_wasted_requests()
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
                version=SLOT_LANE_VERSION if any(result.needs_lane for result in results) else USUAL_VERSION,
            )
            for number, results in self._results.items()
            if results or number in self._ended
        ]
        if reports:
            self._push_reports(reports)
        for number in self._ended:
            self._results.pop(number)
        for number in self._results:
            self._results[number] = []
        self._ended, self._characters = {}, 0
        self._flushed_at = time.monotonic()
