"""What a crawl leaves behind in Redis and in RQ's queues is found."""

from uuid import UUID

import pytest

from tools.chaos.evidence import left_in_queues, left_in_redis
from tools.chaos.redis_server import RedisServer

CRAWL, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("name", ["leases", "results", "queue:host", "seen", "mark"])
def test_a_key_of_the_crawl_is_left(server: RedisServer, name: str) -> None:
    server.client.set(f"crawler:{CRAWL}:{name}", "something")
    assert left_in_redis(server, CRAWL) == [f"crawler:{CRAWL}:{name}"]
    assert left_in_redis(server, OTHER) == []


def test_a_key_that_ends_by_itself_is_not_left(server: RedisServer) -> None:
    server.client.set(f"crawler:{CRAWL}:dead", "something", ex=60)
    assert left_in_redis(server, CRAWL) == []


@pytest.mark.parametrize("queue", ["crawl", "fetch", "render", "scrapy"])
def test_a_job_that_waits_is_left(server: RedisServer, queue: str) -> None:
    server.client.rpush(f"rq:queue:{queue}", "watch-1")
    assert left_in_queues(server) == ["watch-1"]


def test_a_lifeline_is_left_unless_it_was_at_work_when_its_worker_died(server: RedisServer) -> None:
    for job, entry in (("watch-lifeline-1", "planted"), ("watch-lifeline-2", "an-execution")):
        server.client.hset(f"rq:job:{job}", "status", "started")
        server.client.zadd("rq:wip:crawl", {f"{job}:{entry}": 1})
    assert left_in_queues(server) == ["watch-lifeline-1"]
    server.client.delete("rq:wip:crawl")
    assert left_in_queues(server) == ["watch-lifeline-1", "watch-lifeline-2"]


def test_where_machines_lose_their_power_only_a_lifeline_that_is_planted_is_left(server: RedisServer) -> None:
    server.client.hset("rq:job:watch-lifeline-1", "status", "started")
    assert left_in_queues(server, without_power=True) == []
    server.client.zadd("rq:wip:crawl", {"watch-lifeline-1:planted": 1})
    assert left_in_queues(server, without_power=True) == ["watch-lifeline-1"]


def test_a_redis_that_is_away_leaves_nothing_unsaid(server: RedisServer) -> None:
    server.kill()
    assert left_in_redis(server, CRAWL)
    assert left_in_queues(server)
