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


def test_a_lifeline_is_left_unless_it_was_at_work_when_its_worker_died(server: RedisServer) -> None:
    for job, entry in (("watch-lifeline-1", "planted"), ("watch-lifeline-2", "an-execution")):
        server.client.hset(f"rq:job:{job}", "status", "started")
        server.client.zadd("rq:wip:crawl", {f"{job}:{entry}": 1})
    assert left_in_queues(server) == ["watch-lifeline-1"]
    server.client.delete("rq:wip:crawl")
    assert left_in_queues(server) == ["watch-lifeline-1", "watch-lifeline-2"]


def test_a_redis_that_is_away_leaves_nothing_unsaid(server: RedisServer) -> None:
    server.kill()
    assert left_in_redis(server, CRAWL)
    assert left_in_queues(server)
