"""Which RQ workers are alive and what they listen to, and their registration in Redis."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import partial

import click
from rq import Queue, Worker, get_current_job, worker_registration
from rq.utils import now
from rq.worker import BaseWorker, WorkerStatus

from crawler import conf
from crawler.core.politeness.shares import SlotLoad
from crawler.core.protocol.lanes import Lane, SlotLane
from crawler.frontier.slots import LaneSlots
from crawler.queueing.queues import CRAWL, FETCH, connection
from crawler.redis_client import RedisClient


def worker_count(queue: str = FETCH) -> int:
    """Workers registered for a queue. Cheap, and only a hint: a killed worker is counted for some minutes."""
    return Worker.count(queue=Queue(queue, connection=connection()))


def capacity(lane: Lane, now: float) -> int:
    """What serves a lane: the slots of a slot lane, else the workers that listen to it and are alive."""
    return slots_of(lane, now) if isinstance(lane, SlotLane) else listeners(lane.queue)[lane.queue]


def slots_of(lane: SlotLane, now: float) -> int:
    """How many pages the workers of the lane take at a time, all together: its own workers as many as they say, and a
    stock worker that listens to its queue one."""
    queue = Queue(lane.queue, connection=connection())
    listening = {key.removeprefix(Worker.redis_worker_namespace_prefix) for key in worker_registration.get_keys(queue)}
    workers = LaneSlots(connection(), lane).workers(now)
    return sum(workers.values()) + len(listening - workers.keys())


def slot_loads(lane: SlotLane, now: float) -> dict[str, SlotLoad]:
    """The slots of each worker of the lane, by the holder of its batches: its process. Stock workers are left out."""
    slots = LaneSlots(connection(), lane)
    workers, taken = slots.workers(now), slots.taken_by_holder()
    with connection().pipeline(transaction=False) as pipe:
        for worker in workers:
            pipe.hmget(f"{Worker.redis_worker_namespace_prefix}{worker}", "hostname", "pid")
        processes = [b":".join(fields) if all(fields) else b"" for fields in pipe.execute()]
    holders = [process.decode() for process in processes]
    by_holder = zip(holders, workers.values(), strict=True)
    return {holder: SlotLoad(taken[holder], number) for holder, number in by_holder if holder}


def live_workers() -> int:
    """Workers that listen to both queues and, as far as this machine can tell, are alive.

    RQ lists a killed worker for minutes; one of this machine is checked by its process.
    """
    return len([names for names in _listening() if {CRAWL, FETCH} <= names])


def listeners(*queues: str) -> dict[str, int]:
    """How many workers listen to each of these queues and, as far as this machine can tell, are alive."""
    listening = _listening()
    return {queue: len([names for names in listening if queue in names]) for queue in queues}


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
        return True  # a process of another user: it exists
    return True


def keep_registered(worker: BaseWorker) -> None:
    """Ensure that this worker is registered. RQ registers it only at its start, and Redis may have lost its data since;
    RQ's heartbeats then write only a part of its hash."""
    with worker.connection.pipeline() as pipe:
        worker_registration.register(worker, pipe)
        pipe.hexists(worker.key, "birth")
        *added, is_whole = pipe.execute()
        if any(added) or not is_whole:
            pipe.hset(worker.key, mapping={**worker.serialize(), "state": worker.get_state()})
            pipe.expire(worker.key, worker.worker_ttl + 60)
            pipe.execute()


def registration_of_stock_worker() -> Callable[[], None]:
    """A function the job calls every few seconds, from any thread, to keep the stock worker that forked for it
    registered. That worker never registers again; its fork knows its name, and its queues from the command line of
    `rq worker`. The function does nothing in other workers: the project's own registers itself."""
    job, command = get_current_job(), click.get_current_context(silent=True)
    names = command.params.get("queues") if command is not None else None
    if job is None or not names or not job.worker_name or os.environ.get("RQ_WORKER_ID") != job.worker_name:
        return lambda: None
    own = RedisClient.from_url(conf.redis_url())  # RQ gives the connection of a worker another timeout
    worker = Worker(list(names), job.worker_name, connection=own, prepare_for_work=False)
    worker.hostname, worker.pid, worker._state = socket.gethostname(), os.getppid(), WorkerStatus.BUSY
    worker.birth_date = worker.last_heartbeat = now()
    return partial(keep_registered, worker)
