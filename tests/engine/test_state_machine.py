"""Whatever happens, in whatever order, a crawl ends exactly: once, with all its pages, or as people ended it.

Each test is a story (tests/engine/machine): the real verbs over a real Redis, a real database and a site of two hosts.
Workers die at any step, jobs are lost or delivered twice, reports come late, two ticks work at once, people pause,
resume, cancel, delete and send again, Redis forgets or remembers too well, the clock stands still or jumps. A seed is a
story, the same each time. To look further: `bin/test tests/engine/test_state_machine.py --stories 300 -n 2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from redis import Redis

from tests.engine.machine.story import Story
from tests.engine.machine.varieties import VARIETIES
from tests.engine.machine.world import PLAN, World

HAPPENINGS = 30  # in a story; with the work between them a crawl of this site comes to its end or near it


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(PLAN).serving() as world:
        yield world


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("stories")))


@pytest.mark.parametrize("variety", VARIETIES)
def test_a_crawl_ends_exactly(variety: str, seed: int, world: World, real_redis: Redis, transactional_db: None) -> None:
    Story(world, VARIETIES[variety], Random(f"{variety} {seed}")).run(HAPPENINGS)
