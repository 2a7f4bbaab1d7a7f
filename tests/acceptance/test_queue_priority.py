"""The queue `crawl` comes first: a tick waits for the job that runs, and not for the fetch jobs that were queued before
it, however a worker is started."""

import sys
from collections.abc import Sequence

import pytest
from rq import Queue
from rq.job import Job

from crawler.launch.worker import command
from crawler.launch.workers import COMMAND
from tests.stack import OWN_WORKER, STOCK_WORKER, Stack

BURST = "--burst"  # it ends when both queues are empty
FETCH_JOBS = 8
MOMENT_S = 0.2

STARTED_BY: dict[str, Sequence[str]] = {
    "the project's own worker": (*OWN_WORKER, BURST),
    "one rq worker": (*STOCK_WORKER, BURST),
    "manage.py rqworker": ("python", "manage.py", "rqworker", "crawl", "fetch", BURST),
    "an rq worker-pool": ("rq", "worker-pool", "crawl", "fetch", "-n", "1", BURST),
    "bin/worker": command(1, [BURST]),
    "a pool of bin/worker": command(2, [BURST]),
    "a worker of bin/crawl": (*COMMAND, BURST),
}
QUICK = "the project's own worker"


@pytest.mark.parametrize(
    "started_by", [name if name == QUICK else pytest.param(name, marks=pytest.mark.long) for name in STARTED_BY]
)
def test_what_is_queued_for_crawls_overtakes_the_fetch_jobs_that_wait(
    stack: Stack, started_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(stack.env, "CRAWLER_HOOKS", "tests.sleeping_jobs.Hook")
    workers = 2 if "pool of" in started_by else 1
    fetch, crawl = (Queue(name, connection=stack.redis) for name in ("fetch", "crawl"))
    # Any job will do: which one a worker takes is up to the names of its queues.
    fetches = [fetch.enqueue("time.sleep", MOMENT_S, result_ttl=600) for _ in range(FETCH_JOBS)]
    first = crawl.enqueue("time.sleep", 0, result_ttl=600)
    worker = stack.spawn(*(word if word != "python" else sys.executable for word in STARTED_BY[started_by]))
    stack.wait_for(lambda: len(begun(fetches)) >= workers)
    later = crawl.enqueue("time.sleep", 0, result_ttl=600)
    running = len(begun(fetches))
    stack.wait_for(lambda: worker.poll() is not None)
    order = [job.id for job in begun([*fetches, first, later])]
    assert len(order) == FETCH_JOBS + 2
    assert order.index(first.id) < workers
    # Each worker may have taken one more from the queue just before, and not have begun it yet.
    assert order.index(later.id) <= 1 + running + workers
    assert running + workers < FETCH_JOBS, "nothing was left to overtake"


def begun(jobs: Sequence[Job]) -> list[Job]:
    """Those that have begun, in this order."""
    for job in jobs:
        job.refresh()
    return sorted((job for job in jobs if job.started_at), key=lambda job: job.started_at or job.created_at)
