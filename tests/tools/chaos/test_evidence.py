"""What a crawl leaves behind in Redis and in RQ's queues is found."""

from __future__ import annotations

from uuid import UUID

import pytest

from tools.chaos.evidence import left_in_queues, left_in_redis
from tools.chaos.memory import Memory

CRAWL, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("name", ["leases", "results", "queue:host", "seen", "mark"])
def test_a_key_of_the_crawl_is_left(memory: Memory, name: str) -> None:
    memory.client.set(f"crawler:{CRAWL}:{name}", "something")
    assert left_in_redis(memory, CRAWL) == [f"crawler:{CRAWL}:{name}"]
    assert left_in_redis(memory, OTHER) == []


def test_a_key_that_ends_by_itself_is_not_left(memory: Memory) -> None:
    memory.client.set(f"crawler:{CRAWL}:dead", "something", ex=60)
    assert left_in_redis(memory, CRAWL) == []


@pytest.mark.parametrize("queue", ["crawl", "fetch", "render", "scrapy"])
def test_a_job_that_waits_is_left(memory: Memory, queue: str) -> None:
    memory.client.rpush(f"rq:queue:{queue}", "watch-1")
    assert left_in_queues(memory) == ["watch-1"]


def test_a_lifeline_is_left_unless_it_was_at_work_when_its_worker_died(memory: Memory) -> None:
    for job, entry in (("watch-lifeline-1", "planted"), ("watch-lifeline-2", "an-execution")):
        memory.client.hset(f"rq:job:{job}", "status", "started")
        memory.client.zadd("rq:wip:crawl", {f"{job}:{entry}": 1})
    assert left_in_queues(memory) == ["watch-lifeline-1"]


def test_a_redis_that_is_away_leaves_nothing_unsaid(memory: Memory) -> None:
    memory.kill()
    assert left_in_redis(memory, CRAWL)
    assert left_in_queues(memory)
