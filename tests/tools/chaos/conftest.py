"""A Redis for the tests of the harness, which can be killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.launch.process_group import Children
from tools.chaos.redis_server import RedisServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with Children(grace=2.0) as children:
        server = RedisServer(children, tmp_path / "redis", tmp_path / "redis.log")
        server.start()
        yield server
        server.kill()
        server.client.close()
