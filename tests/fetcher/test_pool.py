"""The next slice of a host goes on over the connection of the last one, which is kept for a moment and no longer."""

import pytest
from redis import Redis
from rq import Queue, SimpleWorker

from crawler import clock
from crawler.core.urls.addresses import EVERYTHING
from crawler.fetcher import loop
from crawler.fetcher import slice as slice_module
from crawler.fetcher.pool import MAX_CONNECTIONS, ConnectionPool, PooledConnection
from crawler.frontier import keys
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
from crawler.worker import SafeQueue, Worker
from tests.bench import Bench
from tests.site import Reply, page

HOST = "example.com"
MANY = {"/": page(*(f"/{number}" for number in range(300)))} | {f"/{number}": page() for number in range(300)}


class Fetcher(HttpFetcher):
    is_closed = False

    def close(self) -> None:
        self.is_closed = True
        super().close()


def kept(redis: Redis, holder: str, since: float | None = None) -> PooledConnection:
    limiter = HostLimiter(redis, 10)
    assert limiter.take_slot(HOST, holder, HostPolicy("a-crawl", connections=MAX_CONNECTIONS + 1), now=1.0)
    fetcher = Fetcher(Guard((EVERYTHING,)), "tests")
    return (
        PooledConnection(fetcher, limiter, HOST, holder)
        if since is None
        else PooledConnection(fetcher, limiter, HOST, holder, since)
    )


def inside(redis: Redis) -> int:
    return redis.zcard(keys.host_slots(HOST))


@pytest.mark.site(MANY)
def test_jobs_of_one_worker_go_on_over_one_connection(
    bench: Bench, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop.connection_pool, "outlasts_jobs", True)
    monkeypatch.setattr(loop, "MAX_IDLE_S", 60.0)  # a busy machine lets a moment pass between two jobs
    bench.start(concurrency=1)
    bench.work()
    assert bench.state() == "finished"
    assert len({request.port for request in bench.site.requests}) == 1
    assert real_redis.zcard(keys.host_slots(bench.site.host)) == 1
    loop.connection_pool.close_idle()
    assert real_redis.zcard(keys.host_slots(bench.site.host)) == 0


@pytest.mark.site({})
def test_a_connection_to_a_slow_host_goes_to_another_worker_that_waits_for_it(
    bench: Bench, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop.connection_pool, "outlasts_jobs", True)
    monkeypatch.setattr(loop, "MAX_IDLE_S", 60.0)
    monkeypatch.setattr(slice_module, "SLOW_RESPONSE_S", 0.0)
    limiter = HostLimiter(real_redis, 10)

    def first_page(_: int) -> Reply:
        policy = HostPolicy("another", connections=1)
        assert not limiter.take_slot(bench.site.host, "another worker", policy, clock.epoch_seconds())

        return Reply(page())

    bench.site.pages["/"] = first_page
    bench.start(concurrency=1)
    bench.work()
    assert bench.state() == "finished"
    assert real_redis.zcard(keys.host_slots(bench.site.host)) == 0


@pytest.mark.site(MANY)
def test_a_job_of_a_stock_worker_leaves_no_connection_behind(bench: Bench, real_redis: Redis) -> None:
    bench.start(concurrency=1)
    bench.work()
    assert len({request.port for request in bench.site.requests}) > 1
    assert real_redis.zcard(keys.host_slots(bench.site.host)) == 0


def test_what_is_kept_is_for_the_same_terms_and_for_one(real_redis: Redis) -> None:
    keep, one = ConnectionPool(), kept(real_redis, "one")
    keep.put("terms", one)
    assert keep.take("others") is None
    assert keep.take("terms") is one
    assert keep.take("terms") is None


def test_an_unused_connection_is_closed_and_gives_its_slot_back(real_redis: Redis) -> None:
    keep, old, new = ConnectionPool(), kept(real_redis, "old", since=0.0), kept(real_redis, "new")
    keep.put("terms", old)
    keep.put("terms", new)
    keep.close_idle(older_than=30.0)
    assert inside(real_redis) == 1
    assert isinstance(old.fetcher, Fetcher)
    assert old.fetcher.is_closed
    assert keep.take("terms") is new


def test_not_many_are_kept(real_redis: Redis) -> None:
    keep = ConnectionPool()
    for number in range(MAX_CONNECTIONS + 1):
        keep.put("terms", kept(real_redis, str(number)))
    assert inside(real_redis) == MAX_CONNECTIONS


def test_a_worker_that_has_nothing_to_do_lets_go(real_redis: Redis) -> None:
    loop.connection_pool.put("terms", kept(real_redis, "one"))
    queue = Queue("fetch", connection=real_redis)
    assert SafeQueue.dequeue_any([queue], None, real_redis) is None
    assert inside(real_redis) == 0


@pytest.mark.parametrize(("door", "left"), [("fetch", 1), ("manage", 0), ("watch", 0)])
def test_a_worker_keeps_them_for_a_fetch_job_and_for_no_other(
    real_redis: Redis, monkeypatch: pytest.MonkeyPatch, door: str, left: int
) -> None:
    """A watch lasts for minutes: what it kept, nobody else could use."""
    monkeypatch.setattr(SimpleWorker, "execute_job", lambda worker, job, queue: None)
    monkeypatch.setattr(loop, "connection_pool", ConnectionPool())
    queue = Queue("fetch", connection=real_redis)
    worker = Worker([queue], connection=real_redis)
    loop.connection_pool.put("terms", kept(real_redis, "one"))
    worker.execute_job(queue.create_job(f"crawler.jobs.{door}"), queue)
    assert inside(real_redis) == left


def test_a_connection_that_another_crawl_goes_on_with_is_counted_as_its_own(real_redis: Redis) -> None:
    keep, mine = ConnectionPool(), kept(real_redis, "mine:fetch-1:0")
    keep.for_crawl("mine").put("terms", mine)
    assert keep.for_crawl("mine").take("terms") is mine
    keep.for_crawl("mine").put("terms", mine)
    taken = keep.for_crawl("other").take("terms")
    assert taken is not None
    assert (taken.fetcher, taken.holder) == (mine.fetcher, "other:fetch-1:0")
    assert taken.limiter.take_slot(HOST, taken.holder, HostPolicy("other", connections=MAX_CONNECTIONS + 1), now=1.0)
    assert real_redis.zrange(keys.host_slots(HOST), 0, -1) == [b"other:fetch-1:0"]
    assert keep.for_crawl("other").take("terms") is None
