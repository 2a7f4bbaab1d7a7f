"""`bin/up`: everything runs when it says so, and nothing is left when it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler import extras
from crawler.capabilities.browser import chromium
from crawler.capabilities.browser.chromium import BrowserMissing
from crawler.launch import up as up_command
from crawler.launch.supervisor import Processes, WorkerRange
from tests.conftest import free_port
from tests.launch.conftest import descendants, environment, eventually, is_alive
from tests.missing import leave_out
from tests.stack import ROOT, new_database

COMMAND = (sys.executable, "-P", "-m", "crawler.launch.up")


class Up:
    """A `bin/up` on ports of its own, and what it said until it stood."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self.port, self.dashboard_port = free_port(), free_port()
        self.process = subprocess.Popen(
            [*COMMAND, *self.arguments()],
            env=_environment(folder, redis_url),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""

    def arguments(self) -> list[str]:
        return ["--port", str(self.port), "--dashboard-port", str(self.dashboard_port)]

    def read_until(self, words: str) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.said += line
            if words in line:
                return
        pytest.fail(f"it ended before it said {words!r}:\n{self.said}")


def _environment(folder: Path, redis_url: str) -> dict[str, str]:
    return environment(
        DJANGO_SETTINGS_MODULE="crawler.settings.development",
        CRAWLER_DATA_DIR=str(folder),
        REDIS_URL=redis_url,
        PYTHONPATH=str(ROOT),
        PATH=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
    )


@pytest.fixture
def tables(tmp_path: Path) -> None:
    """The tables are there from an earlier start."""
    (tmp_path / "db.sqlite3").write_bytes(new_database())


@pytest.fixture
def up(tmp_path: Path, redis_url: str) -> Iterator[Up]:
    started = Up(tmp_path, redis_url)
    with started.process:
        started.read_until("Ctrl-C stops everything")
        yield started
        started.process.kill()


def answer_of(url: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def test_everything_answers_where_it_says_and_is_gone_after_ctrl_c(up: Up, tmp_path: Path, redis_url: str) -> None:
    assert answer_of(f"http://127.0.0.1:{up.port}/healthz") == (200, "ok")
    link = re.search(r"Log in \(once\): +(\S+)", up.said)
    assert link
    of_command = login_link(tmp_path, redis_url)
    assert {one.startswith(f"http://127.0.0.1:{up.port}/login/") for one in (link[1], of_command)} == {True}

    dashboard = f"http://127.0.0.1:{up.dashboard_port}/0/data/queues.json"
    file = re.search(r"user admin, password in (\S+)\)", up.said)
    assert file
    password = Path(file[1]).read_text().strip()
    assert password not in up.said
    assert answer_of(dashboard)[0] == 401
    basic = b64encode(f"admin:{password}".encode()).decode()
    assert answer_of(dashboard, Authorization=f"Basic {basic}")[0] == 200

    started = descendants(up.process.pid)
    assert len(started) >= 6  # watchdog, web (two), a worker, clock, dashboard
    up.process.send_signal(signal.SIGINT)
    up.process.wait(30)
    assert up.process.returncode == 130
    assert not any(is_alive(pid) for pid in started)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.long
@pytest.mark.usefixtures("tables")
def test_nothing_is_left_however_it_ends(up: Up, number: signal.Signals) -> None:
    started = descendants(up.process.pid)
    up.process.send_signal(number)
    up.process.wait(30)
    assert eventually(lambda: not any(is_alive(pid) for pid in started))


@contextmanager
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


@pytest.mark.parametrize("option", ["--port", "--dashboard-port"])
def test_a_port_in_use_is_one_line_and_starts_nothing(tmp_path: Path, redis_url: str, option: str) -> None:
    other = "--port" if option == "--dashboard-port" else "--dashboard-port"
    with taken_port() as taken:
        ended = subprocess.run(
            [*COMMAND, option, str(taken), other, str(free_port())],
            env=_environment(tmp_path / "data", redis_url),
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"Port {taken} of 127.0.0.1 is in use." in ended.stderr
    assert f"bin/up {option}" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "data" / "db.sqlite3").exists()


@pytest.mark.parametrize("arguments", [["--port", "0"], ["--port", "web"], ["--workers", "-1"], ["--port", "65536"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        up_command.main(arguments)
    assert (ended.value.code, capsys.readouterr().out) == (2, "")


@pytest.mark.parametrize("has_scrapy", [True, False])
@pytest.mark.parametrize("has_browser", [True, False])
def test_there_is_a_worker_for_each_engine_that_is_installed(
    monkeypatch: pytest.MonkeyPatch, *, has_browser: bool, has_scrapy: bool
) -> None:
    def require() -> None:
        if not has_browser:
            raise BrowserMissing("There is no browser.")

    monkeypatch.setattr(chromium, "require_here", require)
    if not has_scrapy:
        leave_out(monkeypatch, extras.SCRAPY)
    commands = up_command._commands()
    assert {"web", "worker", "clock", "dashboard"} <= commands.keys()
    assert commands.get("browser") == ("bin/worker --render" if has_browser else None)
    assert commands.get("scrapy") == ("bin/worker --scrapy" if has_scrapy else None)


def test_one_worker_is_started_at_once_and_may_be_followed_by_one_for_each_core(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until the first one runs, the pages say that no worker does."""
    workers = up_command.parser().parse_args([]).workers
    assert workers == WorkerRange(1, os.cpu_count() or 1)
    procfile = tmp_path / "Procfile"
    procfile.write_text("worker: echo I work\n")
    with Processes(procfile, workers, environment()) as processes:
        ended: list[str] = []
        assert eventually(lambda: bool(ended.extend(map(str, processes.ended())) or ended))
    assert capsys.readouterr().out.count("| I work") == 1


@pytest.mark.long
def test_the_procfile_is_read_with_counts_and_a_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    procfile = tmp_path / "Procfile"
    procfile.write_text("web: echo on $PORT\nworker: echo I work; sleep 600\n")
    variables = environment(PORT="8123")
    with Processes(procfile, WorkerRange(2, 2), variables) as processes:
        ended: list[str] = []
        assert eventually(lambda: bool(ended.extend(map(str, processes.ended())) or ended))
    assert ended == ["web.1 (exit code 0)"]
    said = capsys.readouterr().out
    assert "web.1    | on 8123" in said
    assert said.count("| I work") == 2


def login_link(folder: Path, redis_url: str) -> str:
    """What `manage.py login-link` prints, beside a `bin/up` with this folder."""
    command = [sys.executable, "manage.py", "login-link"]
    return subprocess.run(
        command, cwd=ROOT, env=_environment(folder, redis_url), stdout=subprocess.PIPE, text=True, check=True
    ).stdout
