"""The project's RQ worker: no fork per job, Django loaded once. `rq worker -w crawler.worker.Worker crawl fetch`."""

from __future__ import annotations

import gc
import logging
import math
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import SimpleWorker
from rq.exceptions import DeserializationError, StopRequested
from rq.job import Job
from rq.queue import Queue
from rq.utils import now
from rq.worker import WorkerStatus

from crawler import jobs as _jobs  # isort: skip  # sets up Django, before anything that holds a model
from django.db import DatabaseError, close_old_connections, connection, connections

from crawler import clock, conf, registry
from crawler.command_names import as_typed
from crawler.core.errors import CrawlerError
from crawler.core.installation.deployment import COLD_SECONDS, STOP_SECONDS
from crawler.core.installation.redis_url import parse_sentinel
from crawler.core.protocol.lanes import FETCH as FETCH_LANE
from crawler.core.protocol.lanes import SlotLane, lanes
from crawler.crawls.holds import hold_all, shortage_of
from crawler.crawls.reconcile import reconcile
from crawler.fetcher import loop as _fetch
from crawler.frontier.keys import PROBE
from crawler.frontier.leases import Heartbeat
from crawler.frontier.slots import LaneSlots
from crawler.manager import idle_poller as _watch
from crawler.manager import tick as _manage
from crawler.notices import delivery as _announce
from crawler.queueing import alive, startup
from crawler.queueing.installation import OtherInstallation, verify
from crawler.queueing.queues import stop_request
from crawler.queueing.workers import keep_registered
from crawler.redis_client import CONNECTION_CLASS
from crawler.storage.bulk import POSTGRESQL

PRELOADED = (_jobs, _announce, _fetch, _manage, _watch)
"""The modules that the entry points in `crawler.jobs` import at their first job, imported at the start."""
for seam in ("page_steps", "page_filters", "page_rows", "receipt_parts"):
    registry.entries(seam, object)  # likewise: forked workers then share them

FETCH = "crawler.jobs.fetch"  # this job reuses the HTTP connections of the job before
DEQUEUE_TIMEOUT_S = 5  # an idle worker then runs `reconcile`
NOTE_INTERVAL_S = 0.5  # at which it notes in Redis that it is alive, and looks whether RQ's workers are suspended
MAINTAINED_S = 0.05  # RQ runs the maintenance twice between two jobs: not again within this time
DATABASE_CONNECTION_S = 300  # for which a worker that is not idle keeps its connection
REGISTER_INTERVAL_S = 5.0  # a worker is unknown to RQ at most so long after Redis lost its data
MIN_LIFETIME_S = 30.0  # before its memory is checked: with too low a limit, it still works
RECONNECT_PAUSE_S = 1.0  # between two attempts to reach Redis
LOG_INTERVAL_S = 60.0  # between two log lines while it waits
YOUNG_OBJECTS = 20_000
"""After so many new objects Python searches them for reference cycles. A page creates thousands of objects, few of them
in a cycle: with Python's own threshold (700) it searches several times a page."""

RESTARTED = "CRAWLER_BEGUN_ANEW"
"""Environment variable of a worker that has restarted itself: it does not wait for services again."""

log = logging.getLogger(__name__)


def _wait_for_services() -> None:
    """Wait for Redis and the database, in RQ's commands `worker` and `worker-pool` only. They connect to Redis before
    they create a worker, and exit if it does not answer; but before that they import this module."""
    command = click.get_current_context(silent=True)
    if command is None or command.info_name not in {"worker", "worker-pool"} or RESTARTED in os.environ:
        return
    url = command.params.get("url")
    if parse_sentinel(url or conf.redis_url()) and command.params.get("connection_class") != CONNECTION_CLASS:
        command_line = as_typed("bin/worker")
        sys.exit(f"For Sentinel set RQ_CONNECTION_CLASS={CONNECTION_CLASS} in the environment, or use {command_line}.")
    startup.wait_or_exit(*([url] if url else []))


_wait_for_services()


class SafeQueue(Queue):
    """A queue whose jobs are popped and recorded as taken in one step, as RQ does for workers of a single queue."""

    is_taking_job = False  # a job may be popped and not started: a stop must not lose it
    before_waiting: Callable[[], object] = _fetch.connection_pool.close_idle

    @classmethod
    def dequeue_any(
        cls, queues: Iterable[Queue], timeout: int | None, connection: Redis, *more: Any, **named: Any
    ) -> tuple[Job, Queue] | None:
        """Take a job from the first queue that has one. If all are empty, wait for all of them with BLPOP, which is not
        safe: if the worker dies before it starts that job, RQ loses the job, and the protocol recovers it."""
        wanted = list(queues)
        SafeQueue.is_taking_job = True
        for queue in wanted:
            found = super().dequeue_any([queue], None, connection, *more, **named)
            if found is not None:
                return found
        SafeQueue.is_taking_job = False
        if stop_request.is_set():
            raise StopRequested
        SafeQueue.before_waiting()
        if timeout is None:
            return None
        found = super().dequeue_any(wanted, timeout, connection, *more, **named)
        SafeQueue.is_taking_job = True
        return found


class Worker(SimpleWorker):
    """RQ's SimpleWorker, which runs `reconcile` at the start and while idle: crawls continue even if Redis has lost
    every job. It keeps its connection to the database from one job to the next, until it is idle. RQ notes in Redis a
    dozen times a job that the worker is alive, and in which state; this worker does so twice a second.

    After CRAWLER_WORKER_JOBS jobs, above CRAWLER_WORKER_MB of memory, and after an outage of Redis (or a full Redis),
    it executes itself again under the same process id, so that its supervisor notices nothing.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.queue_class = SafeQueue
        _fetch.connection_pool.outlasts_jobs = True  # SafeQueue closes them
        self._jobs_done, self._started_at = 0, time.monotonic()
        self._noted_at = self._looked_at = self._maintained_at = -math.inf
        self._needs_restart = self._was_stopped = False
        self._is_permanent = False  # not a burst worker
        self._early_stop: int | None = None  # a signal that came before RQ's handlers
        self._registration = ExitStack()
        alone = (lane for lane in lanes() if self.queue_names() == [lane.queue])
        self._lane = next(alone, FETCH_LANE)  # whose batches are its only work
        try:
            self._lane.warm_up()
        except CrawlerError as error:
            sys.exit(str(error))

    def work(self, burst: bool = False, *args: Any, **more: Any) -> bool:
        """As RQ's, but restarts after an outage of Redis."""
        self._refuse_other_installation()
        self._is_permanent = not burst and more.get("max_jobs") is None and more.get("max_idle_time") is None
        worked = False
        _tune_garbage_collector()
        _keep_database_connection()
        stop_request.is_told = True
        SafeQueue.before_waiting = self._rest
        try:
            worked = super().work(burst, *args, **more)
        except RedisError as error:
            if not self._restarts():
                raise
            log.warning("Redis does not respond: %s", error)
        finally:
            stop_request.is_told, SafeQueue.before_waiting = False, _fetch.connection_pool.close_idle
            _fetch.connection_pool.close_idle()
            if self._was_stopped:
                gc.freeze()  # saves 0.15 s: at exit Python examines all objects that are not frozen
        if self._restarts():
            self._restart()
        return worked

    def _refuse_other_installation(self) -> None:
        """Exit with a message if Redis belongs to another one; also after a restart, for Redis may be another now."""
        try:
            verify(self.connection, conf.redis_url(), at_once=True)
        except OtherInstallation as error:
            sys.exit(str(error))
        except RedisError:
            return  # RQ's own start has the message

    def _restart(self) -> NoReturn:
        if not self._needs_restart:
            self._wait_for_redis()
        connections.close_all()
        self._lane.end_processes()
        os.environ[RESTARTED] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (ourselves, without a shell)

    def _wait_for_redis(self) -> None:
        """Wait until Redis can be written again: RQ exits at the start if it cannot. Restores the default signal
        handlers, since RQ's use Redis."""
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, signal.SIG_DFL)
        logged_at = -LOG_INTERVAL_S
        while True:
            time.sleep(RECONNECT_PAUSE_S)
            alive.note()
            error = self._redis_error()
            if error is None:
                return
            if time.monotonic() - logged_at >= LOG_INTERVAL_S:
                log.warning("waiting for Redis: %s", error)
                logged_at = time.monotonic()

    def _redis_error(self) -> str | None:
        """The error of a write to Redis; None if it succeeds. If Redis is full, hold the crawls, so that users see the
        reason."""
        try:
            with self.connection.pipeline() as pipe:
                pipe.set(PROBE, 1, px=1000)
                pipe.execute()
        except RedisError as error:
            short = shortage_of(error)
            if short is not None:
                hold_all(short)
                close_old_connections()
            return str(error)
        return None

    def _restarts(self) -> bool:
        """Whether it restarts itself. Not in a worker-pool, which replaces its processes."""
        return self._is_permanent and not self._was_stopped and multiprocessing.parent_process() is None

    def _should_recycle(self) -> bool:
        """Whether it should make place for a new one."""
        return self._lane.should_recycle() or needs_restart(self._jobs_done, time.monotonic() - self._started_at)

    def request_stop(self, signum: int, frame: Any) -> None:
        """As RQ's, but exits within STOP_SECONDS; see `core.installation.deployment`."""
        self._was_stopped = True  # RQ records it only while a job runs
        stop_request.set()
        _exit_within(STOP_SECONDS)
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ gives it no types

    def _shutdown(self) -> None:
        """As RQ's, but a job that was just popped is started; it then returns its batch."""
        if SafeQueue.is_taking_job and self.get_state() != WorkerStatus.BUSY:
            self._stop_requested = True
        else:
            super()._shutdown()  # type: ignore[no-untyped-call]  # RQ gives it no types

    def request_force_stop(self, signum: int, frame: Any) -> None:
        """As RQ's, but does not wait for the pages under way."""
        try:
            super().request_force_stop(signum, frame)
        except SystemExit:
            _exit_within(COLD_SECONDS)
            raise

    def register_birth(self) -> None:
        """As RQ's, and keep the registration alive from then on, also while a job runs.

        RQ installs its handlers of signals after it: a worker that is ended in between would stay registered.
        """
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._note_early_stop)
        self._register_slots()
        super().register_birth()  # type: ignore[no-untyped-call]  # RQ gives it no types
        self._registration.enter_context(Heartbeat(self._keep_registered, REGISTER_INTERVAL_S))

    def _note_early_stop(self, signum: int, frame: Any) -> None:
        self._early_stop = signum

    def check_for_suspension(self, burst: bool) -> None:
        """As RQ's, but not between jobs that take less than NOTE_INTERVAL_S; it is the first that RQ calls where it
        handles the end."""
        if self._early_stop is not None:
            signum, self._early_stop = self._early_stop, None
            self.request_stop(signum, None)
        if time.monotonic() - self._looked_at >= NOTE_INTERVAL_S:
            super().check_for_suspension(burst)
            self._looked_at = time.monotonic()

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """As RQ's, but at most every NOTE_INTERVAL_S, and in one step."""
        if pipeline is not None:
            super().heartbeat(timeout, pipeline)
        elif time.monotonic() - self._noted_at >= NOTE_INTERVAL_S:
            self._note_state(timeout)

    def set_state(self, state: str, pipeline: Pipeline | None = None) -> None:
        """As RQ's, but between two jobs it stays busy for others; see `_rest`."""
        if pipeline is None and state == WorkerStatus.IDLE:
            self._state = state
        else:
            super().set_state(state, pipeline)

    def _note_state(self, timeout: int | None = None) -> None:
        self._noted_at = time.monotonic()
        with self.connection.pipeline(transaction=False) as pipe:
            super().set_state(self.get_state(), pipe)
            super().heartbeat(timeout, pipe)
            pipe.execute()

    def _rest(self) -> None:
        """Called when there is no job: give back what other processes could use, and be idle for others, too."""
        _fetch.connection_pool.close_idle()
        _close_database_connection()
        self._note_state()
        self._looked_at = -math.inf

    def handle_execution_ended(self, job: Job, queue: Queue, heartbeat_ttl: int) -> None:
        """As RQ's, without a heartbeat of the job: no callback follows that could take long."""
        job.ended_at = job.last_heartbeat = now()

    def register_death(self) -> None:
        self._registration.close()  # first, else it would register again
        if isinstance(self._lane, SlotLane):
            with suppress(RedisError):  # its slots expire
                LaneSlots(self.connection, self._lane).remove(self.name)
        super().register_death()  # type: ignore[no-untyped-call]  # RQ gives it no types

    def _keep_registered(self) -> bool:
        alive.note()
        with suppress(RedisError):  # the next call retries
            self._register_slots()
            keep_registered(self)
        return True

    def _register_slots(self) -> None:
        if isinstance(self._lane, SlotLane):
            LaneSlots(self.connection, self._lane).register(self.name, self._lane.slots(), clock.epoch_seconds())

    def unsubscribe(self) -> None:
        """Stop the thread that listens for RQ's commands first. RQ wakes it before it stops it, and then sometimes
        waits a second for it."""
        listening: Any = self.pubsub_thread
        if listening:
            listening.stop()
        super().unsubscribe()  # type: ignore[no-untyped-call]  # RQ gives it no types

    def execute_job(self, job: Job, queue: Queue) -> None:
        close_old_connections()
        if _name_of(job) != FETCH:  # another job may take minutes, and would block other workers from the hosts
            _fetch.connection_pool.close_idle()
        elif connection.vendor == POSTGRESQL:  # it has few connections, and a worker seldom needs one while it fetches
            _close_database_connection()
        try:
            super().execute_job(job, queue)
        finally:
            close_old_connections()
            self._jobs_done += 1

    def prepare_job_execution(self, job: Job, remove_from_intermediate_queue: bool = True) -> None:
        super().prepare_job_execution(job, remove_from_intermediate_queue=True)  # see SafeQueue

    @property
    def dequeue_timeout(self) -> int:
        return DEQUEUE_TIMEOUT_S

    @property
    def should_run_maintenance_tasks(self) -> bool:
        return True  # RQ calls this before each wait for a job

    def run_maintenance_tasks(self) -> None:
        if time.monotonic() - self._maintained_at < MAINTAINED_S:
            return
        self._needs_restart = self._is_permanent and self._should_recycle()
        if self._needs_restart:
            raise StopRequested
        if super().should_run_maintenance_tasks:
            super().run_maintenance_tasks()  # type: ignore[no-untyped-call]  # RQ gives it no types
        try:
            verify(self.connection, conf.redis_url())
            reconcile()
        except OtherInstallation as error:
            log.error("This worker ends. %s", error)
            raise StopRequested from None
        except (DatabaseError, RedisError) as error:
            log.warning("the crawls could not be reconciled: %s", error)
        finally:
            close_old_connections()
        self._maintained_at = time.monotonic()


def _keep_database_connection() -> None:
    """Keep the connection of this thread from one job to the next; one that the database has closed meanwhile is
    opened again."""
    for settings in connections.settings.values():
        settings["CONN_MAX_AGE"] = settings["CONN_MAX_AGE"] or DATABASE_CONNECTION_S
        settings["CONN_HEALTH_CHECKS"] = True


def _close_database_connection() -> None:
    if not connection.in_atomic_block:
        connection.close()


def _tune_garbage_collector() -> None:
    """What is loaded by now stays until the end, so no collection examines it any more."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def _name_of(job: Job) -> str | None:
    """The name of the job's function; None if the job cannot be read, which RQ records when it performs it."""
    try:
        return job.func_name
    except DeserializationError:
        return None


def _exit_within(seconds: float) -> None:
    """Exit after so many seconds. An unfinished job is recovered like that of a dead worker."""

    def end() -> None:
        log.warning("this worker exits now with an unfinished job: it was asked to stop %s s ago", f"{seconds:g}")
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def needs_restart(jobs: int, seconds: float) -> bool:
    """Whether a worker should restart after so many jobs and seconds, with its current memory."""
    return jobs >= conf.worker_jobs() or (seconds >= MIN_LIFETIME_S and memory_mb() > conf.worker_mb())


def memory_mb() -> float:
    """The resident memory of this process; its peak where the system does not report the current value."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    except (OSError, IndexError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
