"""How many workers a command starts, and when those of other commands suffice."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from rq import Worker

from crawler.launch import workers
from crawler.launch.embedded_redis import RedisServer
from crawler.launch.supervisor import WorkerRange
from crawler.launch.workers import Workers, usual_range
from crawler.queueing import queues
from crawler.queueing.workers import live_workers
from tests.launch.conftest import descendants, eventually, is_alive
from tests.stack import ROOT, new_database


@pytest.fixture
def server(real_redis: redis.Redis, redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RedisServer:
    """What workers that are started here find in their environment, and the tables they wait for."""
    (tmp_path / "db.sqlite3").write_bytes(new_database())
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("RQ_REDIS_URL", redis_url)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(tmp_path))
    return RedisServer(redis_url, owned=False)


def make(server: RedisServer, folder: Path, wanted: int | None, others: int) -> Workers:
    return Workers(wanted, live=lambda: others, redis=server, log_file=folder / "workers.log")


@pytest.mark.parametrize(
    ("wanted", "others", "expected"), [(None, 0, 2), pytest.param(3, 0, 3, marks=pytest.mark.long), (1, 5, 1)]
)
def test_as_many_are_started_as_are_wanted(
    server: RedisServer, tmp_path: Path, wanted: int | None, others: int, expected: int
) -> None:
    with make(server, tmp_path, wanted, others):
        assert eventually(lambda: live_workers() == expected)
    assert live_workers() == 0


def test_those_of_others_are_enough(server: RedisServer, tmp_path: Path) -> None:
    with make(server, tmp_path, None, others=1):
        assert not eventually(lambda: live_workers() > 0, patience=2.0)


@pytest.mark.long
def test_ours_take_over_when_those_of_others_are_gone(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "IDLE_CHECKS", 1)
    counts = iter([1, 1])
    ours = Workers(None, live=lambda: next(counts, 0), redis=server, log_file=tmp_path / "workers.log")
    with ours:
        assert eventually(lambda: live_workers() == 2)


@pytest.mark.long
def test_more_are_started_as_they_become_useful_and_none_is_ended(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "COMMAND", ("sh", "-c", "echo $$; exec sleep 600"))
    log_file, useful = tmp_path / "workers.log", iter([1, None, 9])

    def pids() -> list[int]:
        return list(map(int, log_file.read_text().split()))

    with Workers(
        None,
        live=lambda: 0,
        redis=server,
        log_file=log_file,
        usual=WorkerRange(1, 3),
        useful=lambda: next(useful, 1),
    ):
        assert eventually(lambda: len(pids()) == 1)
        assert eventually(lambda: len(pids()) == 3)
        assert not eventually(lambda: not all(map(is_alive, pids())), patience=2.5)
    assert len(pids()) == 3


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """Gives those of the workers that were started by now, in place of which a shell sleeps."""
    monkeypatch.setattr(workers, "COMMAND", ("sh", "-c", "echo $$; exec sleep 600"))
    return lambda: list(map(int, (tmp_path / "workers.log").read_text().split()))


def test_one_is_started_at_first_and_the_others_once_the_crawl_has_begun(
    server: RedisServer, tmp_path: Path, pids: Callable[[], list[int]]
) -> None:
    with Workers(3, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", at_first=1) as ours:
        assert eventually(lambda: len(pids()) == 1)
        assert not ours.are_complete
        ours.complete()
        assert ours.are_complete
        ours.complete()
        assert eventually(lambda: len(pids()) == 3)
    assert len(pids()) == 3
    assert not any(map(is_alive, pids()))


def test_a_command_that_ends_before_that_ends_the_first(
    server: RedisServer, tmp_path: Path, pids: Callable[[], list[int]]
) -> None:
    with Workers(2, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", at_first=1):
        assert eventually(lambda: len(pids()) == 1)
    assert not any(map(is_alive, pids()))


def test_a_crawl_with_a_delay_begins_with_one() -> None:
    assert [usual_range(delay).least for delay in (0.0, 0.4, 0.5, 10.0)] == [2, 2, 1, 1]
    assert usual_range(10.0).most == usual_range(0.0).most >= 2


@pytest.mark.long
def test_workers_that_do_not_stay_are_said_once(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers, "COMMAND", ("sh", "-c", "echo no; exit 7"))
    with caplog.at_level(logging.WARNING), make(server, tmp_path, 2, others=0):
        assert eventually(lambda: "keeps exiting" in caplog.text)
    assert caplog.text.count("keeps exiting") == 1
    assert f"(exit code 7) keeps exiting. Its log is {tmp_path / 'workers.log'}." in caplog.text
    assert (tmp_path / "workers.log").read_text().startswith("no\n")


FORKS = """
import sys
from pathlib import Path
import django
django.setup()
from crawler import conf
from crawler.launch.embedded_redis import RedisServer
from crawler.launch.forked_worker import fork_worker
from crawler.launch.workers import Workers

redis = RedisServer(conf.redis_url(), owned=False)
with Workers(2, live=lambda: 0, redis=redis, log_file=Path(sys.argv[1]), fork=fork_worker):
    sys.stdin.read()
"""


@pytest.fixture
def command(server: RedisServer, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has forked two workers, and ends them when its stdin is closed."""
    program = [sys.executable, "-c", FORKS, str(tmp_path / "workers.log")]
    with subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE) as process:
        assert eventually(lambda: live_workers() == 2)
        yield process
        process.kill()


def registered() -> set[int]:
    return {worker.pid for worker in Worker.all(connection=queues.connection())}


def test_forked_workers_are_children_with_a_group_of_their_own_and_end_with_the_command(
    command: subprocess.Popen[bytes],
) -> None:
    pids = registered()
    assert pids < descendants(command.pid)
    assert {os.getpgid(pid) for pid in pids} == pids
    command.communicate(timeout=20)
    assert not any(map(is_alive, pids))
    assert registered() == set()


@pytest.mark.long
def test_a_forked_worker_is_replaced_when_it_is_killed(command: subprocess.Popen[bytes]) -> None:
    killed, other = registered()
    os.kill(killed, signal.SIGKILL)
    assert eventually(lambda: bool(registered() - {killed, other}))
    command.communicate(timeout=20)
    assert not is_alive(other)


def test_forked_workers_end_with_a_command_that_is_killed(command: subprocess.Popen[bytes]) -> None:
    """They hold no pipe that would make them owners of themselves."""
    pids = registered()
    command.kill()
    command.wait()
    assert eventually(lambda: not any(map(is_alive, pids)))
