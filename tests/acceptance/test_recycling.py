"""A worker of the project begins anew after some jobs, or when Redis was away, and nobody who supervises it notices."""

import signal

import pytest

from tests.site import Reply, Site, page
from tests.stack import PATIENCE, Stack

PAGES = {"/": page(*(f"/{number}" for number in range(30)))} | {f"/{number}": page() for number in range(30)}


@pytest.mark.long
def test_a_worn_worker_begins_anew_between_two_jobs(stack: Stack) -> None:
    stack.env["CRAWLER_WORKER_JOBS"] = "3"
    with Site(PAGES).serving() as site:
        worker = stack.start_worker()
        receipt = stack.wait_until_finished(stack.start(f"{site.url}/"))
    assert worker.poll() is None
    assert receipt["fetched"] == len(PAGES)
    assert set(site.hits.values()) == {1}
    assert stack.log().count("Listening on") > 2


@pytest.mark.long
def test_in_a_worker_pool_another_takes_its_place(stack: Stack) -> None:
    """The program of a pool's worker is the pool's: begun anew, it would be a pool within the pool."""
    stack.env["CRAWLER_WORKER_JOBS"] = "2"
    with Site(PAGES).serving() as site:
        pool = stack.spawn("rq", "worker-pool", "crawl", "fetch", "-n", "1", "-w", "crawler.worker.Worker")
        receipt = stack.wait_until_finished(stack.start(f"{site.url}/"))
    assert pool.poll() is None
    assert receipt["fetched"] == len(PAGES)
    assert stack.log().count("Starting worker pool") == 1
    assert stack.log().count("Listening on") > 1


@pytest.mark.long
def test_a_worker_outlasts_a_redis_that_was_away(stack: Stack) -> None:
    """Its connections are cut, as by a restart, while it waits for a job."""
    with Site(PAGES).serving() as site:
        worker = stack.start_worker()
        stack.wait_for(lambda: stack.redis.scard("rq:workers") == 1)
        stack.redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        receipt = stack.wait_until_finished(stack.start(f"{site.url}/"))
    assert worker.poll() is None
    assert receipt["fetched"] == len(PAGES)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_asked_to_end_does_not_begin_anew(stack: Stack, number: signal.Signals) -> None:
    """Whether it waits for a job or has one in hand."""
    idle, busy = stack.start_worker(), stack.start_worker()
    stack.wait_for(lambda: states(stack) == ["idle", "idle"])  # registered, and listening to signals
    idle.send_signal(number)
    assert idle.wait(PATIENCE) == 0
    with Site(PAGES | {"/": Reply(PAGES["/"], after=1.0)}).serving() as site:
        stack.start(f"{site.url}/")
        stack.wait_for(lambda: site.hits["/"] == 1)
        busy.send_signal(number)
        assert busy.wait(PATIENCE) == 0
    assert stack.log().count("Listening on") == 2


def states(stack: Stack) -> list[str]:
    """What each registered worker says that it does."""
    return [(stack.redis.hget(key, "state") or b"").decode() for key in stack.redis.smembers("rq:workers")]
