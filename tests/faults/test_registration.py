"""After Redis lost its data RQ knows the living workers again, be they idle or busy."""

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis
from rq import Queue
from rq import Worker as StockWorker
from rq.worker import WorkerStatus

from crawler.fetcher import loop
from crawler.queueing import queues
from crawler.queueing.workers import keep_registered, live_workers, worker_count
from crawler.worker import REGISTER_INTERVAL_S, Worker
from tests.site import Site, page
from tests.stack import ROOT, Stack

PROTOCOL = ROOT / "docs" / "protocol.md"
ROW = re.search(r"^\| `redis: emptied`, workers idle or busy \|.*\| (\d+) s \|$", PROTOCOL.read_text(), re.MULTILINE)
assert ROW is not None, "docs/protocol.md does not say who knows the workers again"
PROMISED = float(ROW[1])  # seconds


@pytest.fixture
def worker(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """One that RQ knows, though it does not work."""
    monkeypatch.setattr(loop.connection_pool, "outlasts_jobs", False)  # it is set by the worker, for the whole process
    listening = [Queue(name, connection=queues.connection()) for name in ("crawl", "fetch")]
    worker = Worker(listening, connection=queues.connection())
    worker.register_birth()
    yield worker
    worker.register_death()


def known(redis: Redis) -> list[tuple[str | None, int | None, list[str]]]:
    """State, process id and queues of each worker RQ knows."""
    return [(one.get_state(), one.pid, one.queue_names()) for one in StockWorker.all(connection=redis)]


@pytest.mark.parametrize("state", [WorkerStatus.IDLE, WorkerStatus.BUSY])
def test_it_is_registered_whole_though_rqs_heartbeat_wrote_a_part_of_it(
    worker: Worker, real_redis: Redis, state: WorkerStatus
) -> None:
    worker.set_state(state)
    real_redis.flushall()
    worker.heartbeat()
    assert known(real_redis) == []
    keep_registered(worker)
    assert known(real_redis) == [(state, worker.pid, ["crawl", "fetch"])]
    assert worker_count() == live_workers() == 1
    assert 0 < real_redis.ttl(worker.key) <= worker.worker_ttl + 60


def test_one_that_is_registered_costs_no_more_than_a_look(worker: Worker, real_redis: Redis) -> None:
    keep_registered(worker)
    real_redis.config_resetstat()
    keep_registered(worker)
    said = real_redis.info("commandstats")
    assert "cmdstat_hset" not in said
    assert sum(said[f"cmdstat_{name}"]["calls"] for name in ("sadd", "hexists", "multi", "exec")) == 6


def test_it_is_seen_to_while_a_job_is_at_work_and_not_after_its_death(worker: Worker) -> None:
    assert REGISTER_INTERVAL_S < PROMISED
    assert "heartbeat" in [thread.name for thread in threading.enumerate()]
    worker.register_death()
    assert "heartbeat" not in [thread.name for thread in threading.enumerate()]
    assert known(queues.connection()) == []


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(Stack.start_worker, id="the project's", marks=pytest.mark.long),
        pytest.param(Stack.start_stock_worker, id="stock"),
    ],
)
def test_redis_is_emptied_while_a_crawl_waits(shared_stack: Stack, start: Callable[[Stack], Any]) -> None:
    """The project's worker says by itself that it is there, RQ's has a job that says so."""
    stack = shared_stack
    with Site({"/": page("/a"), "/a": page()}).serving() as site:
        stack.start(f"{site.url}/", delay=3600.0)
        workers = [start(stack) for _ in range(2)]
        stack.wait_for(lambda: site.hits["/robots.txt"] > 0)
        stack.wait_for(lambda: both_watch(stack.redis))
        stack.redis.flushall()
        stack.wait_for(lambda: len(listening_to_both(stack.redis)) == 2)
        if start is Stack.start_worker:
            assert {pid for _, pid, _ in known(stack.redis)} == {worker.pid for worker in workers}


def both_watch(redis: Redis) -> bool:
    """Whether nothing is left to do but to wait."""
    jobs = [worker.get_current_job_id() or "" for worker in StockWorker.all(connection=redis)]
    return len(jobs) == 2 and all(job.startswith("watch-") for job in jobs)


def listening_to_both(redis: Redis) -> list[int | None]:
    return [pid for _, pid, names in known(redis) if set(names) == {"crawl", "fetch"}]
