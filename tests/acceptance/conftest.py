"""Workers that stay for all the crawls of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from tests.stack import OWN_WORKER, Stack


@pytest.fixture(scope="module")
def crew(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Stack]:
    """A stack with as many of the project's own workers as the module says in WORKERS. Each crawl has a site of its
    own, and finds what earlier ones left in the database."""
    client = redis.Redis.from_url(redis_url)
    client.flushall()
    client.close()
    stack = Stack(tmp_path_factory.mktemp("crew"), redis_url)
    try:
        for _ in range(request.module.WORKERS):
            stack.spawn(*OWN_WORKER)
        stack.wait_for(lambda: stack.redis.scard("rq:workers") >= request.module.WORKERS)
        yield stack
    finally:
        stack.end()
