"""When a worker of the project is worn, and what it does with a job that it pops while it is asked to end."""

import os
import signal
from collections.abc import Iterator
from mmap import mmap
from typing import Any

import pytest
from redis import Redis
from rq import Queue
from rq import Worker as WorkerOfRq

from crawler import worker
from crawler.fetcher import loop
from crawler.queueing.queues import StopRequest
from crawler.worker import MIN_LIFETIME_S, Worker, memory_mb, needs_restart


def test_it_is_recycled_after_so_many_jobs(settings: Any) -> None:
    settings.CRAWLER_WORKER_JOBS, settings.CRAWLER_WORKER_MB = 100, 10_000
    assert [needs_restart(jobs, 1.0) for jobs in (0, 99, 100)] == [False, False, True]


def test_it_is_recycled_when_it_takes_up_too_much_and_lived_for_a_while(settings: Any) -> None:
    settings.CRAWLER_WORKER_JOBS, settings.CRAWLER_WORKER_MB = 100, memory_mb() / 2
    assert [needs_restart(1, seconds) for seconds in (0.0, MIN_LIFETIME_S - 1, MIN_LIFETIME_S)] == [False, False, True]


def test_what_it_takes_up_is_told_in_megabytes() -> None:
    before = memory_mb()
    with mmap(-1, 64 * 2**20) as held:  # new memory from the system; Python may have some left from other tests
        held.write(bytes(64 * 2**20))
        assert 48 < memory_mb() - before < 160


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Iterator[StopRequest]:
    """What a worker in this process sets when it is asked to end; this process does not end with it."""
    request = StopRequest()
    monkeypatch.setattr(worker, "stop_request", request)
    monkeypatch.setattr(worker, "_exit_within", lambda seconds: None)
    monkeypatch.setattr(loop.connection_pool, "outlasts_jobs", False)  # it is set by the worker, for the whole process
    before = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)]
    yield request
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_ended_while_it_starts_is_not_left_registered(
    transactional_db: None, real_redis: Redis, stop: StopRequest, monkeypatch: pytest.MonkeyPatch, signum: int
) -> None:
    """RQ registers a worker before it installs its handlers."""
    starting = Worker(["crawl"], connection=real_redis)
    subscribe = starting.subscribe

    def ended_meanwhile() -> None:
        assert WorkerOfRq.all(connection=real_redis) != []
        os.kill(os.getpid(), signum)
        subscribe()

    monkeypatch.setattr(starting, "subscribe", ended_meanwhile)
    starting.work()
    assert stop.is_set()
    assert WorkerOfRq.all(connection=real_redis) == []


def test_a_job_that_was_popped_as_the_worker_was_asked_to_end_is_begun(
    transactional_db: None, real_redis: Redis, stop: StopRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RQ's own handler would raise between the two, and nobody would have the job."""
    queues = [Queue(name, connection=real_redis) for name in ("crawl", "fetch")]
    jobs = [queues[1].enqueue("crawler.jobs.notify") for _ in range(2)]
    pop = Queue.dequeue_any.__func__  # type: ignore[attr-defined]

    def popped(cls: type[Queue], *told: Any, **more: Any) -> Any:
        found = pop(cls, *told, **more)
        if found is not None:
            os.kill(os.getpid(), signal.SIGTERM)
        return found

    monkeypatch.setattr(Queue, "dequeue_any", classmethod(popped))
    Worker(queues, connection=real_redis).work(logging_level="ERROR")
    assert stop.is_set()
    assert [job.get_status() for job in jobs] == ["finished", "queued"]
    assert queues[1].get_job_ids() == [jobs[1].id]
