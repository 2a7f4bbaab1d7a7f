"""Whole crawls of a simulated web by three worker processes: complete, polite, and about as fast as any could be."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.stack import Stack
from tools.sim.crawl import crawled, start_workers, summary
from tools.sim.factories import TERMS
from tools.sim.serving import free_port, serving
from tools.sim.world import World

WORKERS = 3
STEADY = {"throttle": False}  # the bound knows nothing of a crawler that slows down of its own accord


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Stack]:
    """Workers that are there for every crawl of this module; each crawl has a web, and so addresses, of its own."""
    client = redis.Redis.from_url(redis_url)
    client.flushall()
    client.close()
    stack = Stack(tmp_path_factory.mktemp("sim"), redis_url)
    try:
        start_workers(stack, WORKERS)
        yield stack
    finally:
        stack.end()


@pytest.mark.long
def test_a_crawl_of_many_hosts_equals_the_truth_and_is_polite_and_about_as_fast_as_can_be(
    crew: Stack, tmp_path: Path
) -> None:
    world = World.from_seed(7, hosts=60, port=free_port(), pages=10, largest=45, refusing=2)
    with serving(world, tmp_path) as web:
        found = crawled(crew, web, TERMS, 60, **STEADY)
    assert list(found.differences) == [], summary(found)
    assert list(found.violations) == [], summary(found)
    assert list(found.too_often) == [], summary(found)
    assert found.told_requests == found.requests, summary(found)
    assert 1 <= found.live_ratio <= 2, summary(found)  # on a busy machine; tools/bench/sim.py measures it on a free one
