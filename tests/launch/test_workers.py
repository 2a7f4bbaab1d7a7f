"""How many workers a command starts, and when those of other commands suffice."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest
import redis
from rq import Worker

from crawler.launch import workers
from crawler.launch.preload import STOP_TIMEOUT_S, PreloadedWorker
from crawler.launch.process_group import Children
from crawler.launch.services import RedisServer
from crawler.launch.workers import Workers
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


def test_ours_take_over_when_those_of_others_are_gone(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "IDLE_CHECKS", 1)
    counts = iter([1, 1])
    ours = Workers(None, live=lambda: next(counts, 0), redis=server, log_file=tmp_path / "workers.log")
    with ours:
        assert eventually(lambda: live_workers() == 2)


def test_workers_that_do_not_stay_are_said_once(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers, "COMMAND", ("sh", "-c", "echo no; exit 7"))
    with caplog.at_level(logging.WARNING), make(server, tmp_path, 2, others=0):
        assert eventually(lambda: "keeps exiting" in caplog.text)
    assert caplog.text.count("keeps exiting") == 1
    assert f"(exit code 7) keeps exiting. Its log is {tmp_path / 'workers.log'}." in caplog.text
    assert (tmp_path / "workers.log").read_text().startswith("no\n")


def test_the_first_is_the_one_that_was_loaded_early(server: RedisServer, tmp_path: Path) -> None:
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    with Workers(
        2, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: live_workers() == 2)
        assert preloaded.pid in {worker.pid for worker in Worker.all(connection=queues.connection())}
    assert not is_alive(preloaded.pid)


def test_one_that_is_not_wanted_ends(server: RedisServer, tmp_path: Path) -> None:
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    with Workers(
        0, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: not is_alive(preloaded.pid))
    assert live_workers() == 0


def test_one_that_died_while_it_was_loaded_is_replaced(server: RedisServer, tmp_path: Path) -> None:
    children = Children(STOP_TIMEOUT_S)
    preloaded = PreloadedWorker(children)
    os.kill(preloaded.pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(preloaded.pid))
    with Workers(
        1, live=lambda: 0, redis=server, log_file=tmp_path / "workers.log", children=children, preloaded=preloaded
    ):
        assert eventually(lambda: live_workers() == 1)
