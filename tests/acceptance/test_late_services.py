"""Processes that start before Redis, or before the tables are made, wait for them and then do their work."""

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import free_port, redis_binary
from tests.site import Site, page
from tests.stack import OWN_WORKER, PATIENCE, ROOT, Stack, new_database

PAGES = {"/": page("/a", "/b"), "/a": page("/b"), "/b": page()}
SECRET = "quite-secret"

BIN_WORKER = (sys.executable, "-P", "-m", "crawler.launch.worker")  # as bin/worker does when all is installed
CLOCK = ("python", "manage.py", "clock")
WORKERS = {
    "bin/worker": BIN_WORKER,
    "bin/worker -n 2": (*BIN_WORKER, "-n", "2"),
    "manage.py rqworker": ("python", "manage.py", "rqworker", "crawl", "fetch"),
    "rq worker with the project's class": OWN_WORKER,
}
a_worker = pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=name, marks=() if name == "bin/worker" else pytest.mark.long)
        for name, command in WORKERS.items()
    ],
)


class Late(Stack):
    """A stack whose Redis is not there yet. It has a password."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        super().__init__(folder, f"redis://:{SECRET}@127.0.0.1:{self.port}/0")
        self.env["PYTHONPATH"] = str(ROOT)  # as bin/_setup has it

    def start_redis(self) -> None:
        options = {"bind": "127.0.0.1", "port": self.port, "dir": self.folder, "save": "", "requirepass": SECRET}
        self.spawn(redis_binary(), *[str(word) for name, value in options.items() for word in (f"--{name}", value)])

    def wait_for_line(self, words: str) -> None:
        self.wait_for(lambda: words in self.log())


@pytest.fixture
def late(tmp_path: Path) -> Iterator[Late]:
    stack = Late(tmp_path)
    try:
        yield stack
    finally:
        stack.end()


@a_worker
def test_a_worker_that_starts_before_redis_waits_for_it_and_does_a_crawl(late: Late, command: tuple[str, ...]) -> None:
    worker = late.spawn(*command)
    redis = f"Redis at redis://127.0.0.1:{late.port}/0"
    attempt = re.compile(rf"^Waiting for {redis} \(attempt 2, 5\d s left\): Connection refused$", re.MULTILINE)
    late.wait_for(lambda: bool(attempt.search(late.log())))
    late.start_redis()
    late.wait_for_line(f"{redis} is ready.")
    with Site(PAGES).serving() as site:
        receipt = late.wait_until_finished(late.start(f"{site.url}/"))
    assert receipt["fetched"] == 3
    assert worker.poll() is None
    assert SECRET not in late.log()


@a_worker
@pytest.mark.long
def test_a_worker_whose_redis_never_comes_ends_with_a_sentence(late: Late, command: tuple[str, ...]) -> None:
    late.env["CRAWLER_STARTUP_TIMEOUT"] = "2"
    ended = late.run(*command, check=False)
    assert ended.returncode == 1
    *attempts, last = ended.stderr.splitlines()
    assert len(attempts) >= 2
    assert all(line.startswith("Waiting for Redis at redis://127.0.0.1") for line in attempts)
    redis = f"Redis at redis://127.0.0.1:{late.port}/0"
    assert last.startswith(f"{redis} is not ready after 2 s: Connection refused. Check that it runs")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@a_worker
def test_a_worker_that_is_asked_to_end_while_it_waits_does_so_at_once(
    late: Late, command: tuple[str, ...], number: signal.Signals
) -> None:
    late.env["CRAWLER_STARTUP_TIMEOUT"] = "3600"
    worker = late.spawn(*command)
    late.wait_for_line("attempt 1, 3600 s left")
    worker.send_signal(number)
    assert worker.wait(PATIENCE) == 0
    assert "Traceback" not in late.log()


@pytest.mark.long
def test_a_worker_that_starts_before_the_tables_are_made_waits_for_them(late: Late) -> None:
    late.database.write_bytes(b"")
    late.start_redis()
    late.spawn(*BIN_WORKER)
    late.wait_for_line(f"Waiting for the database {late.database} (attempt 2, 5")
    assert "its migrations are not applied: python manage.py migrate" in late.log()
    late.database.write_bytes(new_database())
    late.wait_for_line("is ready.")
    with Site(PAGES).serving() as site:
        assert late.wait_until_finished(late.start(f"{site.url}/"))["fetched"] == 3


@pytest.mark.long
def test_the_clock_waits_too_and_goes_on_without_redis_in_the_end(late: Late) -> None:
    late.env["CRAWLER_STARTUP_TIMEOUT"] = "2"
    clock = late.spawn(*CLOCK)
    late.wait_for_line("The clock begins without waiting longer.")
    late.wait_for_line("The clock waits: ")
    late.start_redis()
    late.wait_for_line("The clock continues.")
    assert late.log().startswith("Waiting for Redis at ")
    clock.send_signal(signal.SIGTERM)
    assert clock.wait(PATIENCE) == 0


@pytest.mark.long
def test_web_pages_are_served_once_redis_is_there_or_the_time_is_up(late: Late) -> None:
    patient, hasty = free_port(), free_port()
    web(late, patient, "60")
    web(late, hasty, "1")
    late.wait_for_line("The web pages are served without waiting longer.")
    late.wait_for(lambda: healthy(hasty))
    assert not healthy(patient)
    late.start_redis()
    late.wait_for(lambda: healthy(patient))


def web(stack: Stack, port: int, seconds: str) -> subprocess.Popen[bytes]:
    stack.env["CRAWLER_STARTUP_TIMEOUT"] = seconds
    return stack.spawn("sh", "-c", f"export PORT={port}; exec {procfile()['web']}")


def procfile() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return {kind: command.strip() for kind, _, command in (line.partition(":") for line in lines)}


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_the_procfile_starts_workers_that_wait() -> None:
    assert procfile()["worker"] == "bin/worker"
