"""As many workers as are useful, within a range: they are started, asked to exit, and replaced when they are killed."""

import os
import signal
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from crawler import clock
from crawler.core.politeness.scaling import Steady
from crawler.frontier.autoscalers import Membership, has_autoscaler
from crawler.frontier.workload import ShownFigure, store_figure
from crawler.launch.autoscale import Autoscaler, useful_workers_here
from crawler.launch.supervisor import WORKER, Processes, WorkerRange
from crawler.launch.worker import NAMED_BY_HONCHO
from tests.launch.conftest import environment, eventually

WORKS = """\
web: sleep 600
worker: trap 'echo $$ >> handed_back; exit 0' TERM; echo $$ >> started; while true; do sleep 0.05; done
"""


@pytest.mark.parametrize(
    ("typed", "least", "most"),
    [("3", 3, 3), ("0", 0, 0), ("0-8", 0, 8), (" 1 - 2 ", 1, 2), ("AUTO", 1, os.cpu_count())],
)
def test_a_range_is_read_as_typed(typed: str, least: int, most: int) -> None:
    assert WorkerRange.parse(typed) == WorkerRange(least, most)


@pytest.mark.parametrize(
    ("typed", "said"),
    [("-1", "such as 0-8"), ("many", "such as 0-8"), ("1-", "such as 0-8"), ("8-1", "ends before it begins")],
)
def test_what_is_no_range_is_refused(typed: str, said: str) -> None:
    with pytest.raises(ArgumentTypeError, match=said):
        WorkerRange.parse(typed)


def test_the_number_follows_what_is_useful_within_the_range() -> None:
    useful = iter([0, 3, None, 9, 9, 0])
    sizes: list[int] = []
    autoscaler = Autoscaler(WorkerRange(1, 4), lambda: next(useful), sizes.append)
    assert [autoscaler.check() for _ in range(6)] == [False, True, False, True, False, True]
    assert (sizes, autoscaler.number) == ([3, 4, 1], 1)


def test_of_a_fixed_number_nobody_asks_what_is_useful() -> None:
    autoscaler = Autoscaler(WorkerRange(2, 2), lambda: pytest.fail("it was asked"), lambda number: None)
    assert not autoscaler.check()


@pytest.mark.django_db(transaction=True)  # the connection is closed on the way
def test_who_asks_what_is_useful_is_known_as_an_autoscaler(real_redis: Redis) -> None:
    with useful_workers_here(WorkerRange(0, 2)) as useful:
        assert useful() == 0
        assert has_autoscaler(real_redis)


@pytest.mark.django_db(transaction=True)
def test_what_is_useful_is_shared_with_other_autoscalers(real_redis: Redis) -> None:
    store_figure(real_redis, ShownFigure(Steady(3), clock.epoch_seconds()))
    elsewhere = Membership(0, 2, "0/elsewhere/1/token")  # sorts before ours
    elsewhere.beat(real_redis)
    with useful_workers_here(WorkerRange(0, 2)) as useful:
        assert useful() == 1
        elsewhere.beat(real_redis)
        assert elsewhere.share(2) == 1
    elsewhere.beat(real_redis)
    assert elsewhere.share(2) == 2


@pytest.mark.django_db(transaction=True)
def test_workers_stay_after_redis_lost_its_data(real_redis: Redis) -> None:
    store_figure(real_redis, ShownFigure(Steady(2), clock.epoch_seconds()))
    with useful_workers_here(WorkerRange(0, 2)) as useful:
        assert useful() == 2
        real_redis.flushall()
        assert useful() == 2


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[tuple[Processes, Callable[[], list[int]]]]:
    """The Procfile's processes, and the ids of all workers that were started."""
    procfile, started = tmp_path / "Procfile", tmp_path / "started"
    procfile.write_text(WORKS)
    started.touch()
    with Processes(procfile, WorkerRange(0, 3), environment(), {WORKER}) as processes:
        yield processes, lambda: list(map(int, started.read_text().split()))


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_are_started_and_asked_to_exit(
    workers: tuple[Processes, Callable[[], list[int]]], tmp_path: Path
) -> None:
    processes, started = workers
    assert started() == []
    for number in (1, 2):  # one after the other: the first that is started may be the last to say so
        processes.keep_workers(number)
        processes.replace()
        assert eventually(lambda number=number: len(started()) == number)  # type: ignore[misc]
    first, second = started()
    processes.keep_workers(1)
    assert eventually(lambda: not (processes.ended() or lives(second)))  # it did not exit by itself
    processes.replace()
    assert lives(first)
    processes.keep_workers(3)
    processes.replace()
    assert eventually(lambda: len(started()) == 4)
    assert (tmp_path / "handed_back").read_text().split() == [str(second)]


TAKES_ITS_TIME = (
    "trap 'sleep 1; echo $$ >> handed_back; exit 0' TERM; echo $$ >> started; while true; do sleep 0.05; done"
)


@pytest.mark.long
def test_one_that_takes_its_time_to_exit_is_not_killed(tmp_path: Path) -> None:
    """The shell of its line in the Procfile exits at once."""
    (tmp_path / "worker.sh").write_text(TAKES_ITS_TIME)
    procfile, started, handed_back = (tmp_path / name for name in ("Procfile", "started", "handed_back"))
    procfile.write_text("worker: sh worker.sh; true\n")
    with Processes(procfile, WorkerRange(0, 1), environment(), {WORKER}) as processes:
        processes.keep_workers(1)
        processes.replace()
        assert eventually(started.exists)
        processes.keep_workers(0)
        assert eventually(lambda: bool(processes.ended() or handed_back.exists()))
        assert eventually(lambda: not (processes.ended() or lives(int(started.read_text()))))
    assert handed_back.read_text() == started.read_text()


def test_its_processes_do_not_take_themselves_for_those_of_honcho(tmp_path: Path) -> None:
    procfile, found = tmp_path / "Procfile", tmp_path / "found"
    procfile.write_text(f"worker: echo [${{{NAMED_BY_HONCHO}}}] > found; sleep 600\n")
    with Processes(procfile, WorkerRange(1, 1), environment(), {WORKER}):
        assert eventually(lambda: found.exists() and bool(found.read_text()))
    assert found.read_text() == "[]\n"


def test_one_that_is_killed_is_replaced(workers: tuple[Processes, Callable[[], list[int]]]) -> None:
    processes, started = workers
    processes.keep_workers(1)
    processes.replace()
    assert eventually(lambda: len(started()) == 1)
    os.kill(started()[0], signal.SIGKILL)
    ended: list[str] = []
    assert eventually(lambda: bool(ended.extend(map(str, processes.ended())) or ended))
    assert ended == ["worker.1 (exit code -9)"]
    assert eventually(lambda: bool(processes.replace() or len(started()) == 2))
