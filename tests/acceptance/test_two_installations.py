"""Two installations with one Redis: the second refuses it, in a line that says what to do, and takes no job."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from crawler.frontier.keys import INSTALLATION
from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.conftest import free_port
from tests.stack import DATABASE_ID, OWN_WORKER, STOCK_WORKER, Stack

REFUSAL = "belongs to another installation of the crawler"


@pytest.fixture
def second(tmp_path: Path, stack: Stack) -> Iterator[Stack]:
    """Another installation that was given the Redis of the first by mistake."""
    folder = tmp_path / "second"
    folder.mkdir()
    second = Stack(folder, stack.redis_url)
    with closing(sqlite3.connect(second.database)) as database, database:
        database.execute("UPDATE crawler_installation SET database_id = ?", [uuid4().hex])
    stack.redis.set(INSTALLATION, str(DATABASE_ID))
    try:
        yield second
    finally:
        second.end()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(OWN_WORKER, marks=pytest.mark.long),
        pytest.param(
            ("rq", "worker-pool", "-w", "crawler.worker.Worker", "crawl", "fetch", "-n", "2"), marks=pytest.mark.long
        ),
        pytest.param(("python", "manage.py", "rqworker", "crawl", "fetch"), marks=pytest.mark.long),
        pytest.param(("python", "manage.py", "clock"), marks=pytest.mark.long),
        pytest.param(("python", "-m", "crawler.launch.crawl", "http://site.test/"), marks=pytest.mark.long),
        ("python", "manage.py", "crawl", "http://127.0.0.1:8/", "--allow-private"),
        pytest.param(("python", "manage.py", "reconcile"), marks=pytest.mark.long),
    ],
    ids=" ".join,
)
def test_a_process_of_the_second_refuses_the_redis_of_the_first(second: Stack, command: tuple[str, ...]) -> None:
    ended = second.run(*command, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert REFUSAL in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert second.redis.get(INSTALLATION) == str(DATABASE_ID).encode()


def test_so_do_its_web_pages(second: Stack) -> None:
    address = f"127.0.0.1:{free_port()}"
    ended = second.run(
        "gunicorn", "-c", "python:crawler.settings.gunicorn", "crawler.settings.wsgi", "--bind", address, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.count(REFUSAL) == 1


@pytest.mark.long
def test_its_stock_worker_hands_back_what_it_took_and_ends(stack: Stack, second: Stack) -> None:
    with small_site().serving() as site:
        crawl = stack.start(f"{site.url}/")
        ended = second.run(*STOCK_WORKER, check=False)
        assert ended.returncode == 0
        assert REFUSAL in ended.stderr
        waiting = stack.redis.lrange("rq:queue:crawl", 0, -1)
        assert any(job.startswith(b"manage-") for job in waiting)
        stack.start_worker()
        receipt = stack.wait_until_finished(crawl)
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED
