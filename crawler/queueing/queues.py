"""What this project knows about RQ: its two queues, how its jobs are named and described, and which workers live.

Everything is enqueued by dotted name, so that nothing here imports `crawler.jobs`. Arguments are plain values.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, cast

import click
import django_rq
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker, get_current_job, worker_registration
from rq.exceptions import DeserializationError, NoSuchJobError
from rq.job import Job, JobStatus
from rq.queue import EnqueueData
from rq.registry import StartedJobRegistry
from rq.utils import now
from rq.worker import BaseWorker, WorkerStatus

from crawler import conf
from crawler.core.crawl.messages import Batch
from crawler.frontier import keys, scripts

CRAWL, FETCH = "crawl", "fetch"

log = logging.getLogger(__name__)

_KEPT = 60  # seconds a finished job can still be looked at in a dashboard
_FAILED_KEPT = 24 * 3600
_PAGES_MS = 20_000  # longer than telling receivers of pages takes in one go
_WATCH_PREFIX = "watch-"
_TAIL = 64  # jobs at the end of a queue among which a watch is looked for
_LIFELINE_KIND = "watch-lifeline"
_LONG_AGO = 1.0  # the moment a lifeline is said to have been due, in epoch seconds

_BELLS = 512  # jobs for which a watch is woken, at most, should many be sent at once: others are seen within a second
_BELL_MS = 1000  # after this whoever should have come has looked by itself


class StopRequest(threading.Event):
    """Whether this process was asked to end, and when. It wakes the watch that blocks in this process, if one does. Set
    by a handler of signals, so it must not raise."""

    bell: str | None = None  # on which that watch blocks

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._at = clock, 0.0

    def set(self) -> None:
        if not self.is_set():
            self._at = self._clock()
        super().set()
        if self.bell is not None:
            with suppress(RedisError), connection().pipeline() as pipe:
                _ring(pipe, self.bell)
                pipe.execute()

    def seconds(self) -> float | None:
        """How long ago; None = it was not."""
        return self._clock() - self._at if self.is_set() else None


ends_soon = StopRequest()
"""Set once the worker of this process was asked to end: the job at work begins nothing new, see
`core.installation.shutdown`."""


def connection() -> Redis:
    """The one Redis connection pool of this process, shared by RQ's queues and the frontier."""
    return _connect(conf.redis_url())


@cache
def _connect(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=10, socket_connect_timeout=5)  # one that hangs must not hang a page


def new_id(kind: str) -> str:
    """A random job id that tells a person what it is; never reused, because RQ loses jobs whose ids are."""
    return f"{kind}-{secrets.token_hex(8)}"


def send_tick(pipe: Pipeline, crawl: str, site: str, job: str) -> None:
    """Add a manager job to the pipeline's transaction."""
    _crawl_queue().enqueue_many(
        [
            Queue.prepare_data(
                "crawler.jobs.manage",
                args=(crawl,),
                job_id=job,
                timeout=300,
                result_ttl=_KEPT,
                failure_ttl=_FAILED_KEPT,
                description=f"manage the crawl of {site}",
            )
        ],
        pipeline=pipe,
    )
    _ring(pipe)


def send_batches(batches: Sequence[Batch]) -> None:
    """Enqueue one fetch job per batch, all in one transaction. A batch's id is its job's id."""
    with connection().pipeline() as pipe:
        _queue(FETCH).enqueue_many([_fetch_data(batch) for batch in batches], pipeline=pipe)
        _ring(pipe, times=len(batches))
        pipe.execute()


def _ring(pipe: Pipeline, bell: str = keys.BELL, *, times: int = 1) -> None:
    """Wake as many watches as jobs are sent in this transaction."""
    if times:
        pipe.rpush(bell, *[1] * times)
        pipe.ltrim(bell, -_BELLS, -1)
        pipe.pexpire(bell, _BELL_MS)


def await_job(seconds: float) -> None:
    """Block until a job is sent, for at most so many seconds; sooner when this process is asked to end. Of several that
    block each job wakes one, that which has waited longest; it may find that the job is gone."""
    ends_soon.bell = keys.own_bell(secrets.token_hex(8))
    try:
        if not ends_soon.is_set():
            connection().blpop([ends_soon.bell, keys.BELL], max(seconds, 0.01))
    finally:
        ends_soon.bell = None


def plant_lifeline() -> None:
    """Leave a watch job where a starting worker finds it, unless one is there.

    With two queues RQ pops a job before it notes anywhere that somebody has it: a worker killed in between takes the
    last job with it, and the next worker would find nothing to do for ever. So one job stands in the registry of
    started jobs as abandoned, with a try left. RQ looks for such jobs whenever a worker starts, and enqueues them.
    """
    if _lifelines():
        return
    conn, job_id = connection(), new_id(_LIFELINE_KIND)
    job = Job.create(
        "crawler.jobs.watch",
        id=job_id,
        connection=conn,
        origin=CRAWL,
        timeout=300,
        result_ttl=0,
        failure_ttl=_FAILED_KEPT,
        status=JobStatus.STARTED,
        description="wake the running crawls when a worker starts",
    )
    job.retries_left = 1
    with conn.pipeline() as pipe:
        job.save(pipeline=pipe)
        pipe.zadd(_started_registry(CRAWL).key, {f"{job_id}:planted": _LONG_AGO})
        pipe.execute()


def cut_lifeline() -> None:
    """No crawl runs any more: nobody needs to be woken."""
    for member in _lifelines():
        connection().zrem(_started_registry(CRAWL).key, member)
        connection().delete(Job.key_for(member.decode().partition(":")[0]))


def _lifelines() -> list[bytes]:
    return cast(list[bytes], connection().zrangebyscore(_started_registry(CRAWL).key, _LONG_AGO, _LONG_AGO))


def send_watch() -> None:
    """Enqueue a watch job unless one waits: behind the batches, for a worker that has nothing else."""
    if not _waiting_watches():
        _queue(FETCH).enqueue_many(
            [_errand_data("crawler.jobs.watch", new_id("watch"), "watch over the running crawls", result_ttl=0)]
        )


def keep_watch_last() -> None:
    """See that one watch waits behind the batches that were just sent. A worker that has work never comes to it; one
    that would have none watches over what the others do."""
    conn, queue = connection(), _queue(FETCH).key
    watches = _waiting_watches()
    for job in watches[1:]:
        if conn.lrem(queue, 1, job):
            conn.delete(Job.key_for(job))
    if not watches or scripts.run(conn, "move_to_end", [queue], [watches[0]]) == 0:
        send_watch()


def is_watch(job: str) -> bool:
    """Whether this is the id of a watch job: something to do only for a worker that has nothing else."""
    return job.startswith(_WATCH_PREFIX)


def _waiting_watches() -> list[str]:
    jobs = cast(list[bytes], connection().lrange(_queue(FETCH).key, -_TAIL, -1))
    return [job.decode() for job in jobs if is_watch(job.decode())]


def send_notify() -> None:
    """Enqueue the job that delivers what is in the outbox, unless one is on its way already; that is believed for some
    seconds only, because RQ may lose it."""
    job = new_id("notify")
    if connection().set(keys.NOTIFY_COMING, job, nx=True, ex=10):
        data = _errand_data("crawler.jobs.notify", job, "tell people about a crawl", result_ttl=_KEPT)
        with connection().pipeline() as pipe:
            _crawl_queue().enqueue_many([data], pipeline=pipe)
            _ring(pipe)
            pipe.execute()


def notify_begins() -> None:
    """From now on another notify job may be sent."""
    connection().delete(keys.NOTIFY_COMING)


def begin_pages() -> bool:
    """Whether receivers may be told of pages now: nobody else does it, and the rest after the last time is over. Should
    this process die, that is so again after some seconds."""
    return bool(connection().set(keys.NOTIFY_PAGES, 1, nx=True, px=_PAGES_MS))


def end_pages(rest: float) -> None:
    """Nobody is to do it again for `rest` seconds."""
    if rest > 0:
        connection().set(keys.NOTIFY_PAGES, 1, px=max(1, int(rest * 1000)))
    else:
        connection().delete(keys.NOTIFY_PAGES)


def rest_from_pages() -> float:
    """Seconds until it may be done again; 0 = now."""
    return max(0, int(connection().pttl(keys.NOTIFY_PAGES))) / 1000


def _errand_data(func: str, job: str, description: str, *, result_ttl: int) -> EnqueueData:
    return Queue.prepare_data(
        func, job_id=job, timeout=300, result_ttl=result_ttl, failure_ttl=_FAILED_KEPT, description=description
    )


def waiting_first() -> list[str]:
    """The ids of the jobs that a free worker would take next, of both queues."""
    with connection().pipeline(transaction=False) as pipe:
        for name in (CRAWL, FETCH):
            pipe.lrange(_queue(name).key, 0, 7)
        return [job.decode() for jobs in pipe.execute() for job in jobs]


def adopt_tick(among: Sequence[str]) -> str | None:
    """Take the first tick `among` these jobs out of RQ's queue, to be done by the caller; the crawl it is for."""
    job = _adopt(CRAWL, "manage-", among)
    return str(job.args[0]) if job is not None else None


def adopt_batch(among: Sequence[str]) -> Batch | None:
    """Take the first batch `among` these jobs out of RQ's queue, to be claimed by the caller."""
    job = _adopt(FETCH, "fetch-", among)
    return Batch.from_plain(job.args[0]) if job is not None else None


def _adopt(queue: str, prefix: str, among: Sequence[str]) -> Job | None:
    """Take the first job of a kind out of its queue. RQ forgets it; whoever asks does the work."""
    conn, key = connection(), _queue(queue).key
    for name in among:
        if not name.startswith(prefix) or not conn.lrem(key, 1, name):
            continue  # of another kind, or somebody was quicker
        try:
            job = Job.fetch(name, connection=conn)
            job.args  # noqa: B018 (unpacked here, where what cannot be read is still known to be that)
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
    """Whether the worker that does this job was asked to end."""
    return stop_listener()()


def stop_listener() -> Callable[[], bool]:
    """`is_stopping` for threads, which RQ does not tell what the current job is. A stock worker does a job in a process
    of its own, which RQ does not tell of the request either; but it notes it in Redis."""
    job = get_current_job()
    worker = job.worker_name if job is not None else None

    def is_stopping() -> bool:
        if ends_soon.is_set() or worker is None:
            return ends_soon.is_set()
        key = Worker.redis_worker_namespace_prefix + worker
        return bool(connection().hexists(key, "shutdown_requested_date"))

    return is_stopping


def keep_registered(worker: BaseWorker) -> None:
    """See that RQ knows this worker. RQ registers it only when it starts, and Redis may have lost its data since; what
    RQ's heartbeats write then is a part of its hash."""
    with worker.connection.pipeline() as pipe:
        worker_registration.register(worker, pipe)
        pipe.hexists(worker.key, "birth")
        *added, is_whole = pipe.execute()
        if any(added) or not is_whole:
            pipe.hset(worker.key, mapping={**worker.serialize(), "state": worker.get_state()})
            pipe.expire(worker.key, worker.worker_ttl + 60)
            pipe.execute()


def registration_of_stock_worker() -> Callable[[], None]:
    """What a job calls every few seconds, from any thread, so that RQ knows the stock worker which forked for it. That
    worker never says again that it is there; its fork knows its name, and its queues from the command line `rq worker`.
    Nothing is done in any other worker: the project's own sees to itself."""
    job, command = get_current_job(), click.get_current_context(silent=True)
    names = command.params.get("queues") if command is not None else None
    if job is None or not names or not job.worker_name or os.environ.get("RQ_WORKER_ID") != job.worker_name:
        return lambda: None
    own = Redis.from_url(conf.redis_url())  # RQ gives the connection of a worker another timeout
    worker = Worker(list(names), job.worker_name, connection=own, prepare_for_work=False)
    worker.hostname, worker.pid, worker._state = socket.gethostname(), os.getppid(), WorkerStatus.BUSY
    worker.birth_date = worker.last_heartbeat = now()
    return partial(keep_registered, worker)


def is_idle() -> bool:
    """Whether no job at all waits in either queue, so that whoever works now is the last to know of running crawls."""
    with connection().pipeline(transaction=False) as pipe:
        for name in (CRAWL, FETCH):
            pipe.llen(_queue(name).key)
        return not any(pipe.execute())


def waiting_jobs() -> dict[str, int]:
    """How many jobs wait in each of the two queues, watches among them."""
    names = (CRAWL, FETCH)
    with connection().pipeline(transaction=False) as pipe:
        for name in names:
            pipe.llen(_queue(name).key)
        return dict(zip(names, pipe.execute(), strict=True))


def has_work() -> bool:
    """Whether a job other than a watch waits in either queue."""
    with connection().pipeline(transaction=False) as pipe:
        for name in (CRAWL, FETCH):
            pipe.lrange(_queue(name).key, 0, 7)
        waiting = [job for jobs in pipe.execute() for job in jobs]
    return not all(is_watch(job.decode()) for job in waiting)


def worker_count() -> int:
    """Workers registered for the fetch queue. Cheap, and only a hint: a killed worker is counted for some minutes."""
    return Worker.count(queue=_queue(FETCH))


def live_workers() -> int:
    """Workers that listen to both queues and, as far as this machine can tell, are alive.

    RQ lists a killed worker for minutes; one of this machine is checked by its process.
    """
    return len([names for names in _listening() if {CRAWL, FETCH} <= names])


def listeners() -> dict[str, int]:
    """How many workers listen to each of the two queues and, as far as this machine can tell, are alive."""
    listening = _listening()
    return {queue: len([names for names in listening if queue in names]) for queue in (CRAWL, FETCH)}


def _listening() -> list[set[str]]:
    """The names of the queues that each living worker listens to."""
    return [set(worker.queue_names()) for worker in Worker.all(connection=connection()) if _is_alive(worker)]


def _is_alive(worker: BaseWorker) -> bool:
    if worker.hostname != socket.gethostname() or not worker.pid:
        return True
    try:
        os.kill(worker.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody else's process: it exists
    return True


def _fetch_data(batch: Batch) -> EnqueueData:
    pages = sum(len(part.pages) for part in batch.slices)
    hosts = list(dict.fromkeys(part.host for part in batch.slices))
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
    plain: dict[str, Any] = batch.to_plain()
    return Queue.prepare_data(
        "crawler.jobs.fetch",
        args=(plain,),
        job_id=batch.id,
        timeout=300,
        result_ttl=_KEPT,
        failure_ttl=_FAILED_KEPT,
        description=f"fetch {pages} page{'' if pages == 1 else 's'} of {where}",
    )


def _queue(name: str) -> Queue:
    return django_rq.get_queue(name, connection=connection())


def _started_registry(name: str) -> StartedJobRegistry:
    return StartedJobRegistry(name, connection=connection())


def _crawl_queue() -> Queue:
    return _queue(CRAWL)
