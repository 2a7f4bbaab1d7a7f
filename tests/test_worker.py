"""When a worker of the project is worn."""

from __future__ import annotations

from mmap import mmap
from typing import Any

from crawler.worker import LEAST_SECONDS, is_worn, megabytes


def test_it_is_worn_after_so_many_jobs(settings: Any) -> None:
    settings.CRAWLER_WORKER_JOBS, settings.CRAWLER_WORKER_MB = 100, 10_000
    assert [is_worn(jobs, 1.0) for jobs in (0, 99, 100)] == [False, False, True]


def test_it_is_worn_when_it_takes_up_too_much_and_lived_for_a_while(settings: Any) -> None:
    settings.CRAWLER_WORKER_JOBS, settings.CRAWLER_WORKER_MB = 100, megabytes() / 2
    assert [is_worn(1, seconds) for seconds in (0.0, LEAST_SECONDS - 1, LEAST_SECONDS)] == [False, False, True]


def test_what_it_takes_up_is_told_in_megabytes() -> None:
    before = megabytes()
    with mmap(-1, 64 * 2**20) as held:  # new memory from the system; Python may have some left from other tests
        held.write(bytes(64 * 2**20))
        assert 48 < megabytes() - before < 160
