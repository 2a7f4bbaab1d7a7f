"""A Redis for the tests of the harness, which can be killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.launch.process_group import Children
from tools.chaos.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Children(grace=2.0) as children:
        memory = Memory(children, tmp_path / "redis", tmp_path / "redis.log")
        memory.start()
        yield memory
        memory.kill()
        memory.client.close()
