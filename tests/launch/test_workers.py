"""How many workers a command starts, and when those of other commands suffice."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from rq import Worker

from crawler.launch import workers
from crawler.launch.embedded_redis import RedisServer
from crawler.launch.preload import STOP_TIMEOUT_S, PreloadedWorker
from crawler.launch.process_group import Children
from crawler.launch.supervisor import WorkerRange
from crawler.launch.workers import Workers, usual_range
from crawler.queueing import queues
from crawler.queueing.workers import live_workers
from tests.launch.conftest import eventually, is_alive
from tests.stack import new_database


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


@pytest.mark.long
def test_of_a_number_that_was_chosen_nobody_asks_whether_more_are_useful(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "COMMAND", ("sleep", "600"))
    asked: list[str] = []
    with Workers(
        1,
        live=lambda: 0,
        redis=server,
        log_file=tmp_path / "workers.log",
        usual=WorkerRange(1, 3),
        useful=lambda: asked.append("so") or 3,  # type: ignore[func-returns-value]
    ):
        assert not eventually(lambda: bool(asked), patience=1.5)


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


def registered() -> set[int]:
    return {worker.pid for worker in Worker.all(connection=queues.connection())}


def was_loaded_early(pid: int) -> bool:
    return b"crawler.launch.preload" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_all_are_forked_from_the_one_that_was_loaded_early(server: RedisServer, tmp_path: Path) -> None:
    """And are children of the command, each with a group of its own."""
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    with Workers(
        3, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: live_workers() == 3)
        pids = registered()
        assert preloaded.pid in pids
        assert all(map(was_loaded_early, pids))
        assert {os.getpgid(pid) for pid in pids} == pids
    assert not any(map(is_alive, pids))


@pytest.mark.long
def test_one_that_was_forked_is_replaced_when_it_is_killed(server: RedisServer, tmp_path: Path) -> None:
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    with Workers(
        2, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: live_workers() == 2)
        (forked,) = registered() - {preloaded.pid}
        os.kill(forked, signal.SIGKILL)
        assert eventually(lambda: bool(registered() - {preloaded.pid, forked}))
    assert not is_alive(forked)


def test_they_end_with_a_command_that_is_killed(server: RedisServer, tmp_path: Path) -> None:
    """The watchdog knows those that were forked, too."""
    program = (
        "import sys, time; from pathlib import Path; from crawler.launch.preload import *;"
        "children = Children(5.0); begun = PreloadedWorker(children).begin(2);"
        "print(*[process.pid for process in begun], flush=True); time.sleep(600)"
    )
    command = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert command.stdout is not None
    with command.stdout:
        pids = list(map(int, command.stdout.readline().split()))
        assert len(pids) == 2
        assert eventually(lambda: live_workers() == 2)
        command.kill()
        command.wait()
    assert eventually(lambda: not any(map(is_alive, pids)))


def test_where_processes_cannot_be_adopted_only_the_first_was_loaded_early(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.launch.preload.adopts_orphans", lambda: False)
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    with Workers(
        2, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: live_workers() == 2)
        assert [pid for pid in registered() if was_loaded_early(pid)] == [preloaded.pid]


def test_one_that_is_not_wanted_ends(server: RedisServer, tmp_path: Path) -> None:
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    with Workers(
        0, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: not is_alive(preloaded.pid))
    assert live_workers() == 0


@pytest.mark.long
def test_one_that_died_while_it_was_loaded_is_replaced(server: RedisServer, tmp_path: Path) -> None:
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    os.kill(preloaded.pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(preloaded.pid))
    with Workers(
        1, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: live_workers() == 1)
