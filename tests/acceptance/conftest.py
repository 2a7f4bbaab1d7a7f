"""A stack for each crawl, with a folder and a process that forks workers for all of them; and workers that stay for all
the crawls of a module."""

from collections.abc import Iterator

import pytest

from tests.stack import Stack


@pytest.fixture
def stack(shared_stack: Stack) -> Stack:
    return shared_stack


@pytest.fixture(scope="module")
def crew(request: pytest.FixtureRequest, grounds: Stack) -> Iterator[Stack]:
    """A stack with as many of the project's own workers as the module says in WORKERS. Each crawl has a site of its
    own, and finds what earlier ones left in the database."""
    stack = Stack(grounds.folder, grounds.redis_url, grounds.forker)
    stack.empty()
    try:
        for _ in range(request.module.WORKERS):
            stack.start_worker()
        stack.wait_for(lambda: stack.redis.scard("rq:workers") >= request.module.WORKERS)
        yield stack
    finally:
        stack.end()
