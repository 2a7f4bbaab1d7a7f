"""The project's RQ worker: no fork per job, Django loaded once. `rq worker -w crawler.worker.Worker crawl fetch`."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from redis import Redis
from redis.exceptions import RedisError
from rq import SimpleWorker
from rq.exceptions import StopRequested
from rq.job import Job
from rq.queue import Queue
from rq.worker import WorkerStatus

from crawler import jobs as _jobs  # isort: skip  # sets up Django, before anything that holds a model
from django.db import DatabaseError, close_old_connections, connections

from crawler import conf
from crawler.core.installation.deployment import COLD_SECONDS, STOP_SECONDS
from crawler.crawls.holds import hold_all, shortage_of
from crawler.fetcher import loop as _fetch
from crawler.frontier.keys import PROBE
from crawler.frontier.leases import Heartbeat
from crawler.manager import idle_poller as _watch
from crawler.manager import tick as _manage
from crawler.manager.reconcile import reconcile
from crawler.notices import delivery as _announce
from crawler.queueing import startup
from crawler.queueing.queues import stop_request
from crawler.queueing.workers import keep_registered

LOADED_ONCE = (_jobs, _announce, _fetch, _manage, _watch)
"""What the doors in `crawler.jobs` import at their first job; here it is there before."""

FETCH = "crawler.jobs.fetch"  # the kind of job that goes on over the connections of the last one
LOOK_EVERY = 5  # seconds; how long an idle worker waits for a job before it looks at the crawls
REGISTER_EVERY = 5.0  # seconds; how long RQ may not know a worker, after Redis lost its data
LEAST_SECONDS = 30.0  # a worker lives before its memory counts: should the limit be too low, work is done all the same
PAUSE = 1.0  # seconds before a worker that lost Redis tries again
SAID_EVERY = 60.0  # seconds between two lines of the log while it waits

BEGUN_ANEW = "CRAWLER_BEGUN_ANEW"
"""In the environment of a worker that has become a new program: it has found Redis already, and outlasts the rest."""

log = logging.getLogger(__name__)


def _wait_for_services() -> None:
    """What RQ's commands `worker` and `worker-pool` cannot do: they talk to Redis before they make a worker, and end
    when it does not answer. But first they import the worker's class; so it is done while this module is imported,
    and only by them."""
    command = click.get_current_context(silent=True)
    if command is None or command.info_name not in {"worker", "worker-pool"} or BEGUN_ANEW in os.environ:
        return
    url = command.params.get("url")
    startup.wait_or_exit(*([url] if url else []))


_wait_for_services()


class SafeQueue(Queue):
    """A queue from which a job is popped and noted as taken in one step, as RQ does for workers of a single queue."""

    takes_one = False  # a job may have been popped that has not begun: a stop in this moment must not lose it

    @classmethod
    def dequeue_any(
        cls, queues: Iterable[Queue], timeout: int | None, connection: Redis, *more: Any, **named: Any
    ) -> tuple[Job, Queue] | None:
        """From the first queue that has a job. Only when all are empty they are waited for together, which Redis can do
        in no safe way: should the worker die before it begins a job that comes then, that job is lost, and found again
        as the protocol says."""
        wanted = list(queues)
        SafeQueue.takes_one = True
        for queue in wanted:
            found = super().dequeue_any([queue], None, connection, *more, **named)
            if found is not None:
                return found
        SafeQueue.takes_one = False
        if stop_request.is_set():
            raise StopRequested
        _fetch.connection_pool.close_idle()
        if timeout is None:
            return None
        found = super().dequeue_any(wanted, timeout, connection, *more, **named)
        SafeQueue.takes_one = True
        return found


class Worker(SimpleWorker):
    """RQ's SimpleWorker, giving database connections back after each job as Django does after each request, and
    looking at the crawls when it starts and while it is idle: it goes on even if Redis has lost every job.

    After CRAWLER_WORKER_JOBS jobs, or when it takes up more than CRAWLER_WORKER_MB, and when it lost Redis and has it
    again (a full Redis is lost, too), it becomes a new program under the same process id: whoever supervises it notices
    nothing.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.queue_class = SafeQueue
        _fetch.connection_pool.outlasts_jobs = True  # SafeQueue lets go of them
        self._jobs_done, self._began = 0, time.monotonic()
        self._is_worn = self._was_stopped = False
        self._lasts = False  # it works until it is stopped
        self._registration = ExitStack()

    def work(self, burst: bool = False, *args: Any, **more: Any) -> bool:
        """As RQ's, but for good: it ends when it is asked to, or was meant to end."""
        self._lasts = not burst and more.get("max_jobs") is None and more.get("max_idle_time") is None
        worked = False
        try:
            worked = super().work(burst, *args, **more)
        except RedisError as error:
            if not self._goes_on():
                raise
            log.warning("Redis does not answer: %s", error)
        finally:
            _fetch.connection_pool.close_idle()
            if self._was_stopped:
                gc.freeze()  # a sixth of a second less: an ending Python looks through all objects but frozen ones
        if self._goes_on():
            self._begin_anew()
        return worked

    def _begin_anew(self) -> NoReturn:
        if not self._is_worn:
            self._outlast_trouble()
        connections.close_all()
        os.environ[BEGUN_ANEW] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (ourselves, without a shell)

    def _outlast_trouble(self) -> None:
        """Wait until Redis can be worked with again: a program that begins before ends at once. RQ's handlers of
        signals speak to Redis, so the system's own end this wait."""
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, signal.SIG_DFL)
        said_at = -SAID_EVERY
        while True:
            time.sleep(PAUSE)
            trouble = self._trouble()
            if trouble is None:
                return
            if time.monotonic() - said_at >= SAID_EVERY:
                log.warning("waiting for Redis: %s", trouble)
                said_at = time.monotonic()

    def _trouble(self) -> str | None:
        """What Redis says to a transaction that changes something; None = it is done. While it is full, crawls are
        held: the page they wait for says why."""
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

    def _goes_on(self) -> bool:
        """Not so in a worker-pool: there it is no program of its own, and the pool puts another in its place."""
        return self._lasts and not self._was_stopped and multiprocessing.parent_process() is None

    def request_stop(self, signum: int, frame: Any) -> None:
        """As RQ's, but it takes STOP_SECONDS at most; see `core.installation.deployment`."""
        self._was_stopped = True  # RQ notes it only while a job is at work
        stop_request.set()
        _end_within(STOP_SECONDS)
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ gives it no types

    def _shutdown(self) -> None:
        """A job that was popped a moment ago is begun, and hands back what it has."""
        if SafeQueue.takes_one and self.get_state() != WorkerStatus.BUSY:
            self._stop_requested = True
        else:
            super()._shutdown()  # type: ignore[no-untyped-call]  # RQ gives it no types

    def request_force_stop(self, signum: int, frame: Any) -> None:
        """As RQ's, but it waits for no thread that is busy with a page."""
        try:
            super().request_force_stop(signum, frame)
        except SystemExit:
            _end_within(COLD_SECONDS)
            raise

    def register_birth(self) -> None:
        """As RQ's, and seen to from then on, also while a job is at work."""
        super().register_birth()  # type: ignore[no-untyped-call]  # RQ gives it no types
        self._registration.enter_context(Heartbeat(self._keep_registered, REGISTER_EVERY))

    def register_death(self) -> None:
        self._registration.close()  # first, or it would be registered again
        super().register_death()  # type: ignore[no-untyped-call]  # RQ gives it no types

    def _keep_registered(self) -> bool:
        with suppress(RedisError):  # the next time, then
            keep_registered(self)
        return True

    def unsubscribe(self) -> None:
        """RQ wakes the thread that listens for its orders, and then tells it to stop: too late, now and then, and waits
        for a second."""
        listening: Any = self.pubsub_thread
        if listening:
            listening.stop()
        super().unsubscribe()  # type: ignore[no-untyped-call]  # RQ gives it no types

    def execute_job(self, job: Job, queue: Queue) -> None:
        close_old_connections()
        if job.func_name != FETCH:  # a watch lasts for minutes, and would keep others from the hosts meanwhile
            _fetch.connection_pool.close_idle()
        try:
            super().execute_job(job, queue)
        finally:
            close_old_connections()
            self._jobs_done += 1

    def prepare_job_execution(self, job: Job, remove_from_intermediate_queue: bool = True) -> None:
        super().prepare_job_execution(job, remove_from_intermediate_queue=True)  # see SafeQueue

    @property
    def dequeue_timeout(self) -> int:
        return LOOK_EVERY

    @property
    def should_run_maintenance_tasks(self) -> bool:
        return True  # RQ asks before each wait for a job

    def run_maintenance_tasks(self) -> None:
        self._is_worn = self._lasts and is_worn(self._jobs_done, time.monotonic() - self._began)
        if self._is_worn:
            raise StopRequested
        if super().should_run_maintenance_tasks:
            super().run_maintenance_tasks()  # type: ignore[no-untyped-call]  # RQ gives it no types
        try:
            reconcile()
        except (DatabaseError, RedisError) as error:
            log.warning("the crawls could not be looked at: %s", error)
        finally:
            close_old_connections()


def _end_within(seconds: float) -> None:
    """End this process then, whatever it does: what it was busy with is found as that of a dead worker is."""

    def end() -> None:
        log.warning("this worker ends now, in the middle of what it does: it was asked to %s s ago", f"{seconds:g}")
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def is_worn(jobs: int, seconds: float) -> bool:
    """Whether a worker should begin anew after so many jobs and seconds, with what it has come to take up."""
    return jobs >= conf.worker_jobs() or (seconds >= LEAST_SECONDS and megabytes() > conf.worker_mb())


def megabytes() -> float:
    """What this process takes up in memory now; where the system does not say so, what it took up at most."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    except (OSError, IndexError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
