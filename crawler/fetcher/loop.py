"""One fetch job: ask for the pages of a batch, many hosts at a time, and leave what came of it for the manager."""

from __future__ import annotations

import heapq
import logging
import queue
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import Any

from django.db import DatabaseError
from redis.exceptions import RedisError

from crawler import clock, conf
from crawler.core.crawl.messages import Batch
from crawler.core.installation.shutdown import Phase, phase
from crawler.crashpoints import crash_point
from crawler.fetcher.batch import BatchRun
from crawler.fetcher.pool import MOMENT, Keep
from crawler.fetcher.result_buffer import FIRST_LINKS
from crawler.fetcher.work_stealing import Helper
from crawler.frontier.heartbeat import Heartbeat
from crawler.http import memory_budget
from crawler.manager.reconcile import reconcile
from crawler.queueing import queues
from crawler.queueing.wakeups import wake

log = logging.getLogger(__name__)

THREADS = 128  # requests under way at a time; with hosts that take their time, most of them wait
SLICES = 256  # at work at a time; each keeps a connection open
TOO_LATE = 0.2  # seconds; a job whose slices are begun so late has enough to do
LOOK_EVERY = 0.1  # seconds between two looks at what else is to be done
LINK_CHARACTERS = 150  # of a link that the return value names
PLACES = 4  # crawls of which the return value says where their links are; a job may help others than its own
NO_MORE_AFTER = 180.0  # seconds after which this job takes no further batch, so that it ends some day

kept = Keep()
"""The connections this worker keeps between two slices, be they of one job or of two."""


def fetch(batch: Batch) -> dict[str, Any] | str:
    """Work on a batch; what came of it, for a person who looks at the job in a dashboard.

    1. Claim the lease: of two jobs with the same batch only one works.
    2. If nothing else waits in RQ's queues, send the tick our results would send anyway: should this worker die, the
       next one finds it.
    3. Ask for the pages while a heartbeat renews the lease and the hosts' connections.
    4. Leave the results, and see whether another crawl needs to be woken.

    A worker that was asked to end begins no further page, and hands back what is left, see
    `core.installation.shutdown`.

    A host that is slow, or wants to be asked seldom, does not hold the worker up: while its slices wait, this job does
    what a free worker would do, see `helping`.
    """
    memory_budget.settle()
    run = BatchRun.claimed(batch, clock.epoch_seconds, kept)
    if run is None:
        _look_around()
        return "the batch is in other hands"
    crash_point("fetch: batch claimed")
    if queues.is_idle():
        wake(run.frontier, batch.site)
    job = _Job(queues.stop_listener())
    job.add(run)
    try:
        with Heartbeat(job.renew) as heartbeat:
            job.work(lambda: heartbeat.lost.is_set() or queues.ends_soon.is_set())
    finally:
        if not kept.outlasts_jobs:
            kept.let_go()
    crash_point("fetch: reports left")
    if not queues.ends_soon.is_set():
        _look_around()
    return job.summary()


def _look_around() -> None:
    """See whether another crawl needs to be woken; a database that is away must not make this job a failed one."""
    try:
        reconcile()
    except DatabaseError as error:
        log.warning("the crawls could not be looked at: %s", error)


class Summary:
    """The return value of a fetch job. RQ keeps it for a minute, so it tells a person what was done and where the links
    went; the links themselves travel in the results list (rule R3)."""

    def __init__(self) -> None:
        self._outcomes = Counter[str]()
        self._links = 0
        self._first_links: list[str] = []
        self._places = dict[str, tuple[str, ...]]()  # crawl -> where its links are, in short lines

    def add(self, run: BatchRun) -> None:
        """Count a batch that is over."""
        self._outcomes += run.reporter.outcomes
        self._links += run.reporter.links
        self._first_links += run.reporter.first_links
        keys = run.frontier.keys
        self._places[keys.crawl] = (
            f"Redis list {keys.results}",
            "once the manager has written them to the table:",
            f"{conf.base_url()}/crawls/{keys.crawl}/pages/",
        )

    def to_plain(self) -> dict[str, Any]:
        """Two kilobytes at most. The keys are in alphabetical order, in which rq-dashboard shows them."""
        return {
            "links": self._links,
            "links_first": [_shortened(link) for link in self._first_links[:FIRST_LINKS]],
            "links_where": [line for place in list(self._places.values())[:PLACES] for line in place],
            "outcomes": dict(sorted(self._outcomes.items())),
            "pages": self._outcomes.total(),
        }


def _shortened(url: str) -> str:
    return url if len(url) <= LINK_CHARACTERS else f"{url[: LINK_CHARACTERS - 1]}…"


class _Job:
    """Slices of one or more batches at work. A slice is in one place at a time: on the heap, waiting for its moment; in
    the hands of a thread; or in `_steps`, back from it. Only this thread moves them."""

    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self._is_stopping = is_stopping
        self._runs: list[BatchRun] = []  # those at work; what is over is let go of, for a job may last for minutes
        self._summary = Summary()  # of those that are over
        self._heap: list[tuple[float, int, BatchRun, int]] = []  # moment, order, batch, slice number
        self._order = count()
        self._steps: queue.SimpleQueue[tuple[BatchRun, int, Future[float | None]]] = queue.SimpleQueue()
        self._at_work = 0
        self._late = 0.0  # seconds by which slices were begun too late, at most, since the last look
        self._began = time.monotonic()

    def add(self, run: BatchRun) -> None:
        self._runs.append(run)
        for number in range(len(run.slices)):
            self._await(0.0, run, number)

    def renew(self) -> bool:
        for run in tuple(self._runs):  # in the heartbeat's thread
            run.renew()
        if self._is_stopping():
            queues.ends_soon.set()
        return True

    def summary(self) -> dict[str, Any]:
        return self._summary.to_plain()

    def work(self, is_cut_off: Callable[[], bool]) -> None:
        """Until every slice is over, or this worker ends."""
        threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="slice")
        helper, look_at = Helper(), self._began + LOOK_EVERY
        try:
            with helper:
                while (self._heap or self._at_work or helper.is_busy()) and self._hand_back() is not Phase.LEAVE:
                    self._begin_steps(threads, is_cut_off)
                    self._take_back(look_at)
                    if time.monotonic() >= look_at:
                        self._look(helper)
                        look_at = time.monotonic() + LOOK_EVERY
        finally:
            threads.shutdown(wait=not queues.ends_soon.is_set())
        for run in tuple(self._runs):
            run.end_all()
            self._over(run)

    def _hand_back(self) -> Phase:
        """What a worker that was asked to end need not keep: slices that wait, and later pages under way, too."""
        now = phase(queues.ends_soon.seconds())
        if now is not Phase.WORK:
            waiting, self._heap = self._heap, []
            for _, _, run, number in waiting:
                self._end_slice(run, number)
        if now is Phase.ABORT:
            for run in self._runs:
                run.abort()
        return now

    def _look(self, helper: Helper) -> None:
        """Show what was found by now, and do what a free worker would do."""
        kept.let_go(older_than=MOMENT)
        for run in self._runs:
            run.reporter.flush_old()
        if queues.ends_soon.is_set():
            return
        has_time = time.monotonic() - self._began < NO_MORE_AFTER
        has_room = self._at_work <= THREADS * 3 // 4 and len(self._heap) + self._at_work <= SLICES
        has_room, self._late = has_room and self._late <= TOO_LATE, 0.0
        for batch in helper.look(wants_batch=has_time and has_room and bool(self._heap or self._at_work)):
            helped = BatchRun.claimed(batch, clock.epoch_seconds, kept)
            if helped is not None:
                self.add(helped)

    def _begin_steps(self, threads: ThreadPoolExecutor, is_cut_off: Callable[[], bool]) -> None:
        while self._heap and self._at_work < THREADS:
            moment, _, run, number = self._heap[0]
            late = run.now() - moment
            if late < 0:
                return
            self._late = max(self._late, late if moment else 0.0)
            heapq.heappop(self._heap)
            self._at_work += 1
            step = threads.submit(run.step, number, is_cut_off)
            step.add_done_callback(partial(self._give_back, run, number))

    def _give_back(self, run: BatchRun, number: int, step: Future[float | None]) -> None:
        """Called by the thread that is done with a slice."""
        self._steps.put((run, number, step))

    def _take_back(self, look_at: float) -> None:
        """Take back the slices whose threads are done with them, or wait until there is one or something to do."""
        try:
            self._step_done(*self._steps.get(timeout=self._patience(look_at)))
            while True:
                self._step_done(*self._steps.get_nowait())
        except queue.Empty:
            pass

    def _patience(self, look_at: float) -> float:
        waits = [look_at - time.monotonic()]
        if self._heap and self._at_work < THREADS:
            waits.append(self._heap[0][0] - self._heap[0][2].now())
        return max(0.0, min(waits))

    def _step_done(self, run: BatchRun, number: int, step: Future[float | None]) -> None:
        self._at_work -= 1
        try:
            moment = step.result()
        except RedisError as error:  # what was found by now is left once Redis is back; the rest is handed back
            log.warning("batch %s ends early, because Redis does not answer: %s", run.id, error, extra=run.ids)
            moment = None
        if moment is None:
            self._end_slice(run, number)
        else:
            self._await(moment, run, number)

    def _end_slice(self, run: BatchRun, number: int) -> None:
        run.end_slice(number)
        if run.is_over:
            self._over(run)

    def _over(self, run: BatchRun) -> None:
        self._runs.remove(run)
        self._summary.add(run)

    def _await(self, moment: float, run: BatchRun, number: int) -> None:
        heapq.heappush(self._heap, (moment, next(self._order), run, number))
