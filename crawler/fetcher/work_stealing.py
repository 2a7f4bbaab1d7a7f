"""Work stealing: a fetch job takes other jobs from RQ's queues while its own batch waits.

A slow host keeps a job busy for seconds in which it only waits. If a tick or another batch is queued meanwhile and no
worker is free, the job takes it out of the queue and runs it: one dead host among twenty blocks nothing, and a single
worker collects, dispatches and fetches at the same time. If the worker dies, both are recovered like any job that RQ
loses: a tick by its mark, a batch by its lease (rules R4, R5).
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self
from uuid import UUID

from django.db import DatabaseError, connection
from redis.exceptions import RedisError

from crawler import clock, logs
from crawler.core.politeness.shares import batches_of_least_busy
from crawler.core.protocol.lanes import FETCH, Lane, SlotLane, lane_of_batch
from crawler.core.protocol.messages import Batch
from crawler.fetcher.hand_back import read_batch
from crawler.frontier.leases import this_process
from crawler.queueing import queues
from crawler.queueing.workers import slot_loads, worker_count

log = logging.getLogger(__name__)

TICK_CHECKS, BATCH_CHECKS = 1, 3  # earlier checks at which a job was waiting, before it is taken
"""A batch waits longer: a worker that is about to be free, or has to fork first, should have the chance to take it,
unless there is no other."""

LEFT_CHECKS = 3
"""Earlier checks at which a worker with slots left a batch to a less busy one, before it takes it."""

CHECK_INTERVAL_S, QUIET_CHECK_INTERVAL_S = 0.1, 0.5
SLOT_CHECK_INTERVAL_S = 0.03  # while a slot may be free, which does nothing meanwhile
SWITCH_S = 0.0005  # after which a tick lets the pages of a hungry job go on; else each of their steps waits for 5 ms
QUIET_AFTER_S = 5.0  # with empty queues for so long, most checks would find nothing and only cost CPU


def check_interval(quiet_s: float) -> float:
    """Seconds to the next check of queues that have been empty for `quiet_s`."""
    return CHECK_INTERVAL_S if quiet_s < QUIET_AFTER_S else QUIET_CHECK_INTERVAL_S


class WorkStealer:
    """Runs one tick at a time in a thread of its own, so that no page waits for it. Takes batches of one `lane`."""

    def __init__(self, on_tick_done: Callable[[], None], lane: Lane = FETCH) -> None:
        self._on_tick_done, self._queue = on_tick_done, lane.queue
        self._slots_of = lane if isinstance(lane, SlotLane) else None
        self._batch_checks = 0 if self._slots_of else BATCH_CHECKS  # the slots were counted when it was sent
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tick")
        self._tick: Future[None] | None = None
        self._waited_at = time.monotonic()  # when a job was last seen to wait
        self._checks: dict[str, int] = {}  # job that waits -> how often we have seen it wait before

    def is_busy(self) -> bool:
        return self._tick is not None and not self._tick.done()

    def interval(self) -> float:
        """Seconds to the next check."""
        seconds = check_interval(time.monotonic() - self._waited_at)
        return SLOT_CHECK_INTERVAL_S if self._slots_of and seconds == CHECK_INTERVAL_S else seconds

    def steal(self, batches: int, *, is_hungry: bool = False) -> Iterator[Batch]:
        """Run the first queued tick, if any; yield the first queued batches, so many at most. Only jobs that waited at
        some checks before: a free worker would have taken them by now. If the caller is hungry, see
        `core.politeness.handover`, any job: it looks a moment after one was sent."""
        try:
            self._checks = {job: self._checks.get(job, -1) + 1 for job in queues.next_jobs(self._queue)}
            if self._checks:
                self._waited_at = time.monotonic()
            if not self.is_busy() and (left_over := self._waiting_since(0 if is_hungry else TICK_CHECKS)):
                tick = queues.steal_tick(left_over)
                if tick is not None:
                    self._run_tick(*tick, SWITCH_S if is_hungry else sys.getswitchinterval())
            patience = 0 if is_hungry else self._batch_patience()
            left_over = self._waiting_since(patience) if batches and self._checks else []
            left_over = self._own_share(left_over, self._slots_of) if self._slots_of else left_over
            for _ in range(min(batches, len(left_over))):
                plain = queues.steal_batch(left_over, self._queue)
                if plain is not None and (batch := read_batch(plain)) is not None:
                    yield batch
        except RedisError as error:
            log.warning("the queues could not be looked at: %s", error)

    def take_next(self) -> tuple[Batch | None, bool]:
        """Take the first queued tick, which is run, and the first queued batch, without leaving them to other workers;
        and whether this worker is to do something else: another kind of job waits, or the batch was handed back."""
        try:
            jobs = [job for job in queues.next_jobs(self._queue) if not queues.is_poller(job)]
            if not self.is_busy() and (tick := queues.steal_tick(jobs)) is not None:
                self._run_tick(*tick, sys.getswitchinterval())
            others_wait = any(map(queues.is_of_another_kind, jobs))
            plain = queues.steal_batch(jobs, self._queue)
            if plain is None:
                return None, others_wait
            batch = read_batch(plain)
            return batch, others_wait or batch is None
        except RedisError as error:
            log.warning("the queues could not be looked at: %s", error)
            return None, True

    def _own_share(self, jobs: list[str], lane: SlotLane) -> list[str]:
        """Those of the batches that this worker takes: its share, or what other ones have not taken."""
        batches = [job for job in jobs if lane_of_batch(job) is lane]
        loads = slot_loads(lane, clock.epoch_seconds()) if batches else {}
        own = loads.pop(this_process(), None)
        if own is None or not loads:  # a stock worker, or the only one
            return batches
        share = batches_of_least_busy(own, list(loads.values()), len(batches))
        return batches[: max(share, sum(self._checks[job] >= LEFT_CHECKS for job in batches))]

    def _batch_patience(self) -> int:
        return self._batch_checks if self._batch_checks and worker_count() > 1 else 0

    def _run_tick(self, crawl: str, collector: int, switch_s: float) -> None:
        self._tick = self._thread.submit(_tick, crawl, collector, switch_s)
        self._tick.add_done_callback(lambda _: self._on_tick_done())

    def _waiting_since(self, looks: int) -> list[str]:
        return [job for job, seen in self._checks.items() if seen >= looks]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(wait=not queues.stop_request.is_set())


def _tick(crawl: str, collector: int, switch_s: float) -> None:
    """A tick that fails leaves its mark or an idle poller: see `manage`."""
    from crawler.manager.tick import manage  # seldom needed, and a third of a stock worker's time to begin a job

    usual = sys.getswitchinterval()
    sys.setswitchinterval(switch_s)
    try:
        manage(UUID(crawl), collector)
    except (RedisError, DatabaseError) as error:
        log.warning("a tick of crawl %s came to nothing: %s", crawl, error, extra=logs.of(crawl))
    except Exception:
        log.exception("a tick of crawl %s failed", crawl, extra=logs.of(crawl))
    finally:
        sys.setswitchinterval(usual)
        connection.close()
