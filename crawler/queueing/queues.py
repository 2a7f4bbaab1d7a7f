"""The interface to RQ's queues: the names and descriptions of jobs, and whether this process is shutting down.

Jobs are enqueued by dotted name, so that nothing here imports `crawler.jobs`. Arguments are plain values.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, cast

import django_rq
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker, get_current_job
from rq.exceptions import DeserializationError, NoSuchJobError
from rq.job import Job, JobStatus
from rq.queue import EnqueueData
from rq.registry import StartedJobRegistry

from crawler import conf
from crawler.core.protocol.lanes import FETCH as FETCH_LANE
from crawler.core.protocol.lanes import Lane, lane_of_batch, lanes
from crawler.core.protocol.messages import Batch
from crawler.frontier import keys, scripts
from crawler.queueing import installation
from crawler.redis_client import RedisClient

CRAWL, FETCH = "crawl", FETCH_LANE.queue

log = logging.getLogger(__name__)

_JOB_TIMEOUT_S = 300
_TICK_PREFIX = "manage-"  # of job ids
_RESULT_TTL_S = 60  # finished jobs stay visible in a dashboard for this long
_FAILURE_TTL_S = 24 * 3600
MS_PER_S = 1000
NOTIFY_RESEND_S = 10  # a notify job that has not begun after this is sent again: RQ may lose a job
_PAGE_NOTICES_LOCK_MS = 20_000  # longer than one delivery of page notices takes
_POLLER_PREFIX = "watch-"
_TAIL_JOBS = 64  # jobs at the end of a queue that are searched for idle pollers
_RESCUE_KIND = "watch-lifeline"
_RESCUE_SCORE = 1.0  # epoch seconds, long ago: RQ takes the rescue job for abandoned

_MAX_SIGNALS = 512  # a poller sees further jobs at its next check, within a second
BUSY_SIGNAL = keys.own_signal("busy")  # a list on which fetch jobs with idle connections block
_MAX_BUSY_SIGNALS = 16  # what is left of them wakes the next fetch job for nothing
_SIGNAL_TTL_MS = 1000  # pollers check the queues themselves after this


class StopRequest(threading.Event):
    """Whether this process was asked to shut down, and when. Setting it wakes an idle poller that blocks in this
    process. It is set by a signal handler, so it must not raise."""

    signal_list: str | None = None  # the list on which the poller blocks
    is_told = False  # the worker that runs the jobs of this process sets it itself

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._at = clock, 0.0

    def set(self) -> None:
        if not self.is_set():
            self._at = self._clock()
        super().set()
        if self.signal_list is not None:
            with suppress(RedisError), connection().pipeline() as pipe:
                _push_signals(pipe, self.signal_list)
                pipe.execute()

    def seconds(self) -> float | None:
        """How long ago; None = it was not."""
        return self._clock() - self._at if self.is_set() else None


stop_request = StopRequest()
"""Set when the worker of this process is shutting down: the current job begins nothing new, see
`core.installation.deployment`."""


def connection() -> Redis:
    """The one Redis connection pool of this process, shared by RQ's queues and the frontier. Raises OtherInstallation
    (a RedisError) if the server belongs to another installation, and RedisError."""
    url = conf.redis_url()
    redis = _connect(url)
    installation.verify(redis, url)
    return redis


@cache
def _connect(url: str) -> Redis:
    # A hanging Redis must not block a web page.
    return RedisClient.from_url(url, socket_timeout=10, socket_connect_timeout=5)


def batch_queues() -> tuple[str, ...]:
    """The queues of all lanes."""
    return tuple(lane.queue for lane in lanes())


def new_id(kind: str) -> str:
    """A random job id with a readable prefix; never reused, because RQ loses jobs with reused ids."""
    return f"{kind}-{secrets.token_hex(8)}"


def send_tick(pipe: Pipeline, crawl: str, site: str, job: str, collector: int = 0) -> None:
    """Add a manager job to the pipeline's transaction."""
    what, more = ("store results of", [collector]) if collector else ("manage", [])
    data = _job_data("crawler.jobs.manage", job, f"{what} the crawl of {site}", crawl, *more)
    _queue(CRAWL).enqueue_many([data], pipeline=pipe)
    _signal(pipe)


def send_batches(batches: Sequence[Batch]) -> None:
    """Enqueue one fetch job per batch, all in one transaction. A batch's id is its job's id."""
    with connection().pipeline() as pipe:
        for lane in lanes():
            if data := [_fetch_data(batch, lane) for batch in batches if lane_of_batch(batch.id) is lane]:
                _queue(lane.queue).enqueue_many(data, pipeline=pipe)
        _signal(pipe, times=len(batches))
        pipe.execute()


def _signal(pipe: Pipeline, *, times: int = 1) -> None:
    """Wake as many idle pollers, and fetch jobs with idle connections, as jobs are sent in this transaction."""
    _push_signals(pipe, keys.JOB_SIGNAL, times)
    _push_signals(pipe, BUSY_SIGNAL, times, _MAX_BUSY_SIGNALS)


def _push_signals(pipe: Pipeline, signal_list: str, times: int = 1, at_most: int = _MAX_SIGNALS) -> None:
    if times:
        pipe.rpush(signal_list, *[1] * times)
        pipe.ltrim(signal_list, -at_most, -1)
        pipe.pexpire(signal_list, _SIGNAL_TTL_MS)


def await_job(seconds: float) -> None:
    """Block until a job is sent, for at most so many seconds, or until this process is asked to shut down. Each job
    wakes the process that has waited longest; it may find that the job is gone."""
    stop_request.signal_list = keys.own_signal(secrets.token_hex(8))
    try:
        if not stop_request.is_set():
            connection().blpop([stop_request.signal_list, keys.JOB_SIGNAL], max(seconds, 0.01))
    finally:
        stop_request.signal_list = None


def ensure_rescue_job() -> None:
    """Ensure that there is a rescue job, an idle poller which RQ enqueues when a worker starts.

    With two queues RQ pops a job before it records which worker has it: a worker killed in between takes the last job
    with it, and the next worker would never find a job. So one job stands in the registry of started jobs as
    abandoned, with a retry left. RQ looks for such jobs whenever a worker starts, and enqueues them.
    """
    if _rescue_jobs():
        return
    conn, job_id = connection(), new_id(_RESCUE_KIND)
    job = Job.create(
        "crawler.jobs.watch",
        id=job_id,
        connection=conn,
        origin=CRAWL,
        timeout=_JOB_TIMEOUT_S,
        result_ttl=0,
        failure_ttl=_FAILURE_TTL_S,
        status=JobStatus.STARTED,
        description="wake the running crawls when a worker starts",
    )
    job.retries_left = 1
    with conn.pipeline() as pipe:
        job.save(pipeline=pipe)
        pipe.zadd(_started_registry(CRAWL).key, {f"{job_id}:planted": _RESCUE_SCORE})
        pipe.execute()


def remove_rescue_job() -> None:
    """Called when no crawl is running or held."""
    for member in _rescue_jobs():
        connection().zrem(_started_registry(CRAWL).key, member)
        connection().delete(Job.key_for(member.decode().partition(":")[0]))


def _rescue_jobs() -> list[bytes]:
    return cast(list[bytes], connection().zrangebyscore(_started_registry(CRAWL).key, _RESCUE_SCORE, _RESCUE_SCORE))


def send_poller() -> None:
    """Enqueue an idle poller unless one is queued: behind the batches, for a worker that has no other job."""
    if not _queued_pollers():
        _queue(FETCH).enqueue_many(
            [_job_data("crawler.jobs.watch", new_id("watch"), "watch over the running crawls", result_ttl=0)]
        )


def keep_poller_last() -> None:
    """Ensure that one idle poller is queued behind the batches. Only a worker without other jobs runs it."""
    conn, queue = connection(), _queue(FETCH).key
    watches = _queued_pollers()
    for job in watches[1:]:
        if conn.lrem(queue, 1, job):
            conn.delete(Job.key_for(job))
    if not watches or scripts.run(conn, "move_to_end", [queue], [watches[0]]) == 0:
        send_poller()


def is_poller(job: str) -> bool:
    """Whether this is the job id of an idle poller."""
    return job.startswith(_POLLER_PREFIX)


def _queued_pollers() -> list[str]:
    jobs = cast(list[bytes], connection().lrange(_queue(FETCH).key, -_TAIL_JOBS, -1))
    return [job.decode() for job in jobs if is_poller(job.decode())]


def send_notify() -> None:
    """Enqueue the job that delivers the outbox, unless one was sent just now."""
    _send_once(keys.NOTIFY_COMING, "crawler.jobs.notify", new_id("notify"), "deliver the notices of crawls")


def notify_wait() -> float:
    """Seconds until another notify job may be sent; 0 = now."""
    return max(0, int(connection().pttl(keys.NOTIFY_COMING))) / MS_PER_S


def notify_begins() -> None:
    """Allow the next notify job to be sent."""
    connection().delete(keys.NOTIFY_COMING)


def send_kept_extraction(crawl: str) -> None:
    """Enqueue the job that extracts fields from kept HTML of this crawl, unless one was sent just now."""
    coming, job = keys.extraction_coming(crawl), new_id("extract")
    _send_once(coming, "crawler.jobs.extract_kept", job, "extract fields from kept HTML", crawl)


def _send_once(coming: str, func: str, job: str, description: str, *args: Any) -> None:
    """Enqueue a job, unless the key `coming` tells that one was sent just now."""
    if connection().set(coming, job, nx=True, px=NOTIFY_RESEND_S * MS_PER_S):
        with connection().pipeline() as pipe:
            _queue(CRAWL).enqueue_many([_job_data(func, job, description, *args)], pipeline=pipe)
            _push_signals(pipe, keys.JOB_SIGNAL)
            pipe.execute()


def kept_extraction_begins(crawl: str) -> None:
    """Allow the next one to be sent."""
    connection().delete(keys.extraction_coming(crawl))


def begin_page_notices() -> bool:
    """True if this process may deliver page notices now: no other process does, and the pause since the last time is
    over. If this process dies, the lock expires after some seconds."""
    return bool(connection().set(keys.NOTIFY_PAGES, 1, nx=True, px=_PAGE_NOTICES_LOCK_MS))


def end_page_notices(rest: float) -> None:
    """Release the lock after a pause of `rest` seconds."""
    if rest > 0:
        connection().set(keys.NOTIFY_PAGES, 1, px=max(1, int(rest * 1000)))
    else:
        connection().delete(keys.NOTIFY_PAGES)


def page_notices_wait() -> float:
    """Seconds until page notices may be delivered again; 0 = now."""
    return max(0, int(connection().pttl(keys.NOTIFY_PAGES))) / 1000


def _job_data(func: str, job: str, description: str, *args: Any, result_ttl: int = _RESULT_TTL_S) -> EnqueueData:
    return Queue.prepare_data(
        func,
        args=args,
        job_id=job,
        timeout=_JOB_TIMEOUT_S,
        result_ttl=result_ttl,
        failure_ttl=_FAILURE_TTL_S,
        description=description,
    )


def next_jobs(batches: str = FETCH) -> list[str]:
    """The ids of the jobs that a free worker would take next, of ticks and of one queue of `batches`."""
    with connection().pipeline(transaction=False) as pipe:
        for name in (CRAWL, batches):
            pipe.lrange(_queue(name).key, 0, 7)
        return [job.decode() for jobs in pipe.execute() for job in jobs]


def manager_jobs() -> int:
    """How many ticks and notice jobs wait for a worker, counted up to _TAIL_JOBS."""
    first = cast(list[bytes], connection().lrange(_queue(CRAWL).key, 0, _TAIL_JOBS - 1))
    return sum(not is_poller(job.decode()) for job in first)


def is_of_another_kind(job: str) -> bool:
    """Whether the job is neither a tick nor a batch."""
    return not job.startswith((_TICK_PREFIX, *(f"{name}-" for name in batch_queues())))


def steal_tick(among: Sequence[str]) -> tuple[str, int] | None:
    """Take the first tick `among` these jobs out of RQ's queue, to be run by the caller; returns its crawl and
    collector."""
    job = _steal(CRAWL, _TICK_PREFIX, among)
    if job is None:
        return None
    crawl, collector = (*job.args, 0)[:2]
    return str(crawl), int(collector)


def steal_batch(among: Sequence[str], queue: str = FETCH) -> dict[str, Any] | None:
    """Take the first batch `among` these jobs out of RQ's queue, to be read and claimed by the caller."""
    job = _steal(queue, f"{queue}-", among)
    return cast(dict[str, Any], job.args[0]) if job is not None else None


def _steal(queue: str, prefix: str, among: Sequence[str]) -> Job | None:
    """Take the first job of a kind out of its queue. RQ forgets it; the caller runs it."""
    conn, key = connection(), _queue(queue).key
    for name in among:
        if not name.startswith(prefix) or not conn.lrem(key, 1, name):
            continue  # of another kind, or another worker was quicker
        try:
            job = Job.fetch(name, connection=conn)
            job.args  # noqa: B018 (decoded here, where a decoding error is handled)
        except (NoSuchJobError, DeserializationError) as error:
            log.warning("job %s cannot be read: %s", name, error)
            return None
        conn.delete(Job.key_for(name))
        return job
    return None


def is_queued(queue: str, job: str) -> bool:
    """Whether a job waits in RQ's queue."""
    return job in queued(queue)


def queued(queue: str) -> set[str]:
    """The ids of all jobs waiting in RQ's queue."""
    return set(_queue(queue).get_job_ids())


def started(queue: str) -> set[str]:
    """The ids of jobs in RQ's started registry; a job whose worker was killed stays there for a minute or more."""
    return set(_started_registry(queue).get_job_ids(cleanup=False))


def is_stopping() -> bool:
    """Whether the worker of this job is shutting down."""
    return stop_listener()()


def stop_listener() -> Callable[[], bool]:
    """`is_stopping` for threads, where RQ does not know the current job. A stock worker runs a job in a forked process,
    which RQ does not inform of the shutdown either; but it records it in Redis."""
    job = get_current_job()
    worker = job.worker_name if job is not None else None

    def is_stopping() -> bool:
        if stop_request.is_set() or stop_request.is_told or worker is None:
            return stop_request.is_set()
        key = Worker.redis_worker_namespace_prefix + worker
        return bool(connection().hexists(key, "shutdown_requested_date"))

    return is_stopping


def is_forked() -> bool:
    """Whether the job of this process has it to itself: a stock worker forks for each job, which takes 0.3 seconds."""
    job = get_current_job()
    if job is None or job.worker_name is None or stop_request.is_told:
        return False
    pid = connection().hget(Worker.redis_worker_namespace_prefix + job.worker_name, "pid")
    return pid is not None and int(pid) != os.getpid()


def waiting_jobs() -> dict[str, int]:
    """How many jobs wait in each of the two queues, including idle pollers."""
    names = (CRAWL, FETCH)
    with connection().pipeline(transaction=False) as pipe:
        for name in names:
            pipe.llen(_queue(name).key)
        return dict(zip(names, pipe.execute(), strict=True))


def is_idle() -> bool:
    """Whether both queues are empty."""
    return not any(waiting_jobs().values())


def is_for_last_queues() -> bool:
    """Whether a batch waits in another queue than `fetch`, and the worker of this job, if it is a stock one of that
    queue, too, is to take it."""
    job = get_current_job()
    if job is None or job.worker_name is None:
        return False
    names = batch_queues()[1:]
    with connection().pipeline(transaction=False) as pipe:
        pipe.hget(Worker.redis_worker_namespace_prefix + job.worker_name, "queues")
        for name in names:
            pipe.llen(_queue(name).key)
        listened, *waiting = pipe.execute()
    own = (listened or b"").decode().split(",")
    return any(number and name in own for name, number in zip(names, waiting, strict=True))


def has_work() -> bool:
    """Whether a job other than an idle poller waits in either queue."""
    return not all(map(is_poller, next_jobs()))


def _fetch_data(batch: Batch, lane: Lane) -> EnqueueData:
    pages = sum(len(part.pages) for part in batch.slices)
    hosts = list(dict.fromkeys(part.host for part in batch.slices))
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
    description = f"{lane.verb} {pages} page{'' if pages == 1 else 's'} of {where}"
    return _job_data("crawler.jobs.fetch", batch.id, description, batch.to_plain())


def _queue(name: str) -> Queue:
    return django_rq.get_queue(name, connection=connection())


def _started_registry(name: str) -> StartedJobRegistry:
    return StartedJobRegistry(name, connection=connection())
