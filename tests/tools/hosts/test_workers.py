"""Workers of hosts are counted from outside, and what the counts say is found by values."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.hosts.workers import Sample, every, is_worker, longest, running, timeline, too_few, too_many


def sample(at: float, wanted: int | None, running: int, reachable: int = 4) -> Sample:
    return Sample(at, wanted, running, running, reachable)


def test_the_longest_time_without_a_break_counts() -> None:
    samples = [sample(at, 2, running) for at, running in enumerate([1, 1, 2, 1, 1, 1, 2])]
    assert longest(samples, [], lambda each: too_few(each, 2)) == 3
    assert longest(samples, [], too_many) == 0


def test_what_is_excused_or_unknown_does_not_count() -> None:
    samples = [sample(at, None if at == 4 else 2, 0) for at in range(10)]
    assert longest(samples, [(6, 7)], lambda each: too_few(each, 2)) == 6


def test_workers_are_missing_only_where_they_could_be() -> None:
    assert too_few(sample(0, 4, 3), 2)
    assert not too_few(sample(0, 9, 8), 2)
    assert not too_few(sample(0, 4, 2, reachable=1), 2)


def test_workers_of_a_host_that_is_cut_off_are_no_surplus() -> None:
    assert not too_many(Sample(0, 1, running=2, on_reachable=1, reachable=3))
    assert too_many(sample(0, 1, 2))


def test_a_timeline_has_a_character_for_each_moment() -> None:
    assert timeline([0, 9, 10, None]) == "09+-"
    assert [each.at for each in every([sample(at / 2, 0, 0) for at in range(12)], 2.0)] == [0, 2, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_process_is_told_to_be_a_worker_by_its_command() -> None:
    words = ["-w", "crawler.worker.Worker", "crawl", "fetch"]
    with subprocess.Popen([sys.executable, "-c", "input()", *words], stdin=subprocess.PIPE) as worker:
        assert is_worker(worker.pid)
        assert not is_worker(os.getpid())
        assert running([os.getpid()])[os.getpid()] >= 1  # it is in the namespace of this process
        worker.communicate(b"\n")
