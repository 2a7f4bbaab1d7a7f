"""One database, one Redis and one stage serve all rows, one after another; each row finds them empty."""

from collections.abc import Iterator

import pytest

from tests.faults.theatre import Theatre
from tests.stack import Stack


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Theatre]:
    stack = Stack(tmp_path_factory.mktemp("faults"), redis_url)
    theatre = Theatre(stack)
    try:
        yield theatre
    finally:
        theatre.end()
        stack.end()


@pytest.fixture
def theatre(stage: Theatre) -> Theatre:
    stage.empty()
    return stage
