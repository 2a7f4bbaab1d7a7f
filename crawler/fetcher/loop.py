"""One fetch job: fetch the pages of a batch, many hosts at a time, and leave the results for the manager."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.db import DatabaseError
from redis.exceptions import RedisError

from crawler import clock, conf
from crawler.core.installation.deployment import Phase, phase
from crawler.core.politeness.handover import PROMPT_S
from crawler.core.politeness.host_rules import MAX_SLICES_PER_BATCH
from crawler.core.protocol.lanes import Lane, SlotLane, lane_of_batch
from crawler.core.protocol.messages import Batch
from crawler.crashpoints import crash_point
from crawler.crawls.reconcile import reconcile
from crawler.fetcher.job_signal import JobSignal
from crawler.fetcher.job_work import JobWork, RecentWork
from crawler.fetcher.pool import MAX_IDLE_S, ConnectionPool
from crawler.fetcher.session import FetchSession
from crawler.fetcher.slot_watch import SlotWatch
from crawler.fetcher.summary import Summary
from crawler.fetcher.work_stealing import WorkStealer
from crawler.frontier.leases import Heartbeat
from crawler.http import memory_budget
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import EventLoop
from crawler.queueing import queues
from crawler.queueing.wakeups import wake

log = logging.getLogger(__name__)

MAX_LATENESS_S = 0.2  # a job whose slices begin later than this takes no further batch
IDLE_INTERVAL_S = 0.08  # over which it is measured how much of its time the job waits
MAX_STEALING_S = 180.0  # after this the job takes no further batch, so that it ends
STOP_CHECK_S = 1.0  # how often a forked job, which gets no signal, reads in Redis whether its worker was asked to end
LINGER_S, LINGER_LOOK_S = 0.3, 0.01  # how long and how often a forked job with nothing left looks for more

connection_pool = ConnectionPool()
"""Connections this worker keeps between two slices, of one job or of two."""

recent = RecentWork()


def fetch(batch: Batch) -> dict[str, Any] | str:
    """Fetch a batch; returns a summary for the dashboard.

    1. Claim the lease: of two jobs with the same batch only one works.
    2. If RQ's queues are empty, send the tick the results would send anyway: if this worker dies, another finds it.
    3. Fetch the pages while a heartbeat renews the lease and the hosts' slots; requests end before a slot that was not
       renewed expires.
    4. Leave the results, and wake other crawls that need it.

    A worker that is shutting down begins no further page and hands back the rest, see `core.installation.deployment`.

    A slow host, or one with a long delay, does not block the worker: while its slices wait, this job takes other jobs,
    see `work_stealing`.
    """
    memory_budget.limit_malloc()
    work = JobWork(recent)
    session = FetchSession.claimed(batch, clock.epoch_seconds, connection_pool, work)
    if session is None:
        _reconcile()
        return "the batch is in other hands"
    crash_point("fetch: batch claimed")
    if queues.is_idle():
        wake(session.frontier, batch.site)
    job = _Job(work, queues.stop_listener(), lane_of_batch(batch.id))
    job.add(session)
    try:
        with Heartbeat(job.renew) as heartbeat, SlotWatch(job.abort_invalid):
            job.work(lambda: heartbeat.is_lost() or queues.stop_request.is_set())
    finally:
        if not connection_pool.outlasts_jobs:
            connection_pool.close_idle()
    crash_point("fetch: reports left")
    if not queues.stop_request.is_set():
        _reconcile()
    return job.summary()


def _reconcile() -> None:
    """Wake other crawls that need it; the job must not fail because the database is down."""
    try:
        reconcile()
    except DatabaseError as error:
        log.warning("the crawls could not be looked at: %s", error)


class _Job:
    """The slices of one or more batches, in one thread. A slice is worked on in a task of the event loop."""

    def __init__(self, work: JobWork, is_stopping: Callable[[], bool], lane: Lane) -> None:
        self._work, self._is_stopping, self._lane = work, is_stopping, lane
        self._sessions, self._schedule = work.sessions, work.schedule
        self._summary = Summary()  # of those that are over
        self._loop = EventLoop()
        self._places, self._max_batches = conf.worker_connections(), conf.worker_batches() or math.inf
        self._has_slots = isinstance(lane, SlotLane)
        if isinstance(lane, SlotLane):  # a batch of few pages of one host takes a slot
            self._places = self._max_batches = lane.slots()
        self._grace_s = conf.page_grace_seconds()
        self._lateness = 0.0  # seconds by which slices were begun too late, at most, since the last look
        self._began = time.monotonic()
        self._is_forked = queues.is_forked()
        self._stop_checked_at = self._began
        self._idle_since: float | None = None
        self._look_at = self._began  # when it does its housekeeping
        self._idle_noted = self._began, 0.0  # when, and how long it had waited by then
        self._signal = JobSignal(self._loop, self._look_soon_if_hungry)

    def add(self, session: FetchSession) -> None:
        self._sessions.append(session)
        for number in range(len(session.slices)):
            self._schedule.add(0.0, session, number)

    def renew(self) -> bool:
        for session in tuple(self._sessions):  # in the heartbeat's thread
            session.renew()
        self._look_for_stop()
        return True

    def abort_invalid(self) -> None:
        for session in tuple(self._sessions):  # in the watch's thread
            session.abort_invalid()

    def _look_for_stop(self) -> None:
        self._stop_checked_at = time.monotonic()
        if self._is_stopping():
            queues.stop_request.set()

    def summary(self) -> dict[str, Any]:
        return self._summary.to_plain()

    def work(self, is_cut_off: Callable[[], bool]) -> None:
        """Run until every slice is over, or the worker shuts down."""
        stealer = WorkStealer(self._loop.wake, self._lane)
        self._look_at = self._began + stealer.interval()
        self._look_soon_if_hungry()
        with self._loop, stealer:
            while self._goes_on(stealer) and self._release_on_shutdown() is not Phase.LEAVE:
                self._begin_steps(is_cut_off)
                self._loop.run(self._wait_s())
                if time.monotonic() >= self._look_at:
                    self._do_housekeeping(stealer)
                    self._look_at = time.monotonic() + stealer.interval()
        for session in tuple(self._sessions):
            session.end_all()
            self._finish(session)

    def _note_idle(self) -> None:
        now = time.monotonic()
        since, waited = self._idle_noted
        if now - since >= IDLE_INTERVAL_S:
            self._work.recent.idle = (self._loop.waited - waited) / (now - since)
            self._idle_noted = now, self._loop.waited

    def _is_hungry(self) -> bool:
        """See `core.politeness.handover`."""
        return any(session.result_buffer.is_awaited for session in self._sessions)

    def _look_soon_if_hungry(self) -> None:
        """Called when a slice has ended, or a job was sent: others that end now, or a free worker, get a moment."""
        if self._is_hungry():
            self._look_at = min(self._look_at, time.monotonic() + PROMPT_S)

    def _goes_on(self, stealer: WorkStealer) -> bool:
        if self._schedule or self._work.running or stealer.is_busy():
            self._idle_since = None
            return True
        return self._is_forked and self._finds_more(stealer)

    def _finds_more(self, stealer: WorkStealer) -> bool:
        """Take the next tick or batch instead of leaving it to the next fork; False if there was none for a while, or
        another kind of job waits."""
        now = time.monotonic()
        self._idle_since = self._idle_since or now
        is_late = (
            now - self._began >= MAX_STEALING_S or now - self._idle_since >= LINGER_S or self._lane.should_recycle()
        )
        if is_late or queues.stop_request.is_set():
            return False
        batch, others_wait = stealer.take_next()
        if batch is not None:
            self._claim(batch)
        elif not stealer.is_busy():
            time.sleep(LINGER_LOOK_S)
        return not others_wait

    def _claim(self, batch: Batch) -> None:
        """Add a batch that was taken out of the queue, unless it is in other hands."""
        session = FetchSession.claimed(batch, clock.epoch_seconds, connection_pool, self._work)
        if session is not None:
            self.add(session)
            if self._has_room():
                session.wake_for_more()

    def _has_room(self) -> bool:
        """Whether the slices of another batch find connections."""
        most = max(self._places * 3 // 4, self._places - MAX_SLICES_PER_BATCH)
        return len(self._schedule) + self._work.running <= most and len(self._sessions) < self._max_batches

    def _release_on_shutdown(self) -> Phase:
        """On shutdown, end the slices that wait, and later also abort the requests under way. What has ended is
        reported at once: other workers go on with it."""
        now = phase(queues.stop_request.seconds(), self._grace_s)
        if now is Phase.WORK:
            return now
        for session, number in self._schedule.clear():
            self._end_slice(session, number)
        if now is Phase.ABORT:
            self._loop.throw(RequestAborted)
        for session in self._sessions:
            session.result_buffer.flush_ended()
        return now

    def _do_housekeeping(self, stealer: WorkStealer) -> None:
        """Flush results, close idle connections, and take jobs that a free worker would take."""
        self._note_idle()
        connection_pool.close_idle(older_than=MAX_IDLE_S)
        due = [session for session in self._sessions if session.result_buffer.is_due()]
        for session in due:
            session.result_buffer.flush()
        if due and self._work.is_slow(self._work.recent.seconds):
            for session in self._sessions:
                session.result_buffer.flush_old()
        if self._is_forked and time.monotonic() - self._stop_checked_at >= STOP_CHECK_S:
            with suppress(RedisError):  # the heartbeat looks, too
                self._look_for_stop()
        if queues.stop_request.is_set():
            return
        has_time = time.monotonic() - self._began < MAX_STEALING_S and not self._lane.should_recycle()
        has_room = len(self._sessions) < self._max_batches if self._has_slots else self._has_room()
        has_room, self._lateness = has_room and self._lateness <= MAX_LATENESS_S, 0.0
        wants_batch = has_time and has_room and bool(self._schedule or self._work.running)
        free = int(self._max_batches) - len(self._sessions) if self._has_slots else 1
        is_hungry = self._is_hungry()
        if is_hungry:
            self._signal.begin()
        for batch in stealer.steal(free if wants_batch else 0, is_hungry=is_hungry):
            self._claim(batch)

    def _begin_steps(self, is_cut_off: Callable[[], bool]) -> None:
        while self._work.running < self._places and (first := self._schedule.first()):
            moment, session, number = first
            late = session.now() - moment
            if late < 0:
                return
            self._lateness = max(self._lateness, late if moment else 0.0)
            self._schedule.remove(session, number)
            self._work.running += 1
            self._loop.spawn(partial(self._step, session, number, is_cut_off))

    def _wait_s(self) -> float:
        """Seconds until something is due that no task waits for."""
        waits = [self._look_at - time.monotonic()]
        if self._work.running < self._places and (first := self._schedule.first()):
            moment, session, _ = first
            waits.append(moment - session.now())
        return max(0.0, min(waits))

    def _step(self, session: FetchSession, number: int, is_cut_off: Callable[[], bool]) -> None:
        """Work on a slice; in a task."""
        try:
            moment = session.step(number, is_cut_off)
        except RedisError as error:  # what was found by now is left once Redis is back; the rest is handed back
            log.warning("batch %s ends early, because Redis does not respond: %s", session.id, error, extra=session.ids)
            moment = None
        self._work.running -= 1
        if moment is None:
            self._end_slice(session, number)
        else:
            self._schedule.add(moment, session, number, host=session.slices[number].host_of_wanted_slot)

    def _end_slice(self, session: FetchSession, number: int) -> None:
        session.end_slice(number)
        self._schedule.note_free_slot(session.slices[number].host)
        if session.is_over:
            self._finish(session)
        self._look_soon_if_hungry()

    def _finish(self, session: FetchSession) -> None:
        self._sessions.remove(session)
        self._summary.add(session)
