"""`bin/crawl` from the arguments to the exit code; no process is left at the end."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import site
from tests.conftest import free_port
from tests.launch.conftest import descendants, environment, eventually, is_alive
from tests.site import Site
from tests.stack import new_database

COMMAND = (sys.executable, "-P", "-m", "crawler.launch.crawl")


@pytest.fixture
def small_site() -> Iterator[Site]:
    with Site({"/": site.page("/a", "/b"), "/a": site.page(), "/b": site.page("/")}).serving() as served:
        yield served


@pytest.fixture
def slow_site() -> Iterator[Site]:
    pages = {"/": site.page(*(f"/{number}" for number in range(2000)))}
    answers = {f"/{number}": site.Reply(site.page(), after=0.05) for number in range(2000)}
    with Site(pages | answers).serving() as served:
        yield served


def begin(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(DJANGO_SETTINGS_MODULE="crawler.settings.development", **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def crawl(*arguments: str, **variables: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    with begin(*arguments, **variables) as process:
        out, err = process.communicate(timeout=90)
    return process.returncode, out, err


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `bin/_setup` has it: the project can be imported wherever the command is typed."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))


def test_it_crawls_on_an_empty_machine_and_leaves_nothing_running(
    tmp_path: Path, redis_url: str, small_site: Site
) -> None:
    code, out, err = crawl(
        f"{small_site.url}/", "--allow-private", "--json", CRAWLER_DATA_DIR=str(tmp_path), REDIS_URL=redis_url
    )
    assert code == 0, err
    receipt = json.loads(out)
    assert (receipt["state"], receipt["discovered"], receipt["fetched"]) == ("finished", 3, 3)
    assert small_site.hits["/"] == small_site.hits["/a"] == small_site.hits["/b"] == 1


@pytest.mark.long
def test_it_takes_options_from_a_file_and_says_so(tmp_path: Path, redis_url: str, small_site: Site) -> None:
    file = tmp_path / "options.toml"
    file.write_text(f'urls = ["{small_site.url}/"]\nallow-private = true\njson = true\n[profile.one]\nmax-pages = 1\n')
    environ = {"CRAWLER_DATA_DIR": str(tmp_path), "REDIS_URL": redis_url}
    code, out, err = crawl("--config", str(file), "--profile", "one", **environ)
    assert code == 0, err
    assert (json.loads(out)["fetched"], err.splitlines()[0]) == (1, f"Options from {file}.")


def test_a_detached_crawl_starts_no_worker_of_its_own(tmp_path: Path, redis_url: str) -> None:
    (tmp_path / "db.sqlite3").write_bytes(new_database())
    environ = {"CRAWLER_DATA_DIR": str(tmp_path), "REDIS_URL": redis_url}
    code, out, err = crawl("http://127.0.0.1:8/", "--allow-private", "--detach", **environ)
    assert (code, out) == (1, "")
    assert err.startswith("Nothing was started, because no worker is running")


def test_wrong_usage_is_judged_first_and_starts_nothing(tmp_path: Path) -> None:
    code, out, err = crawl(
        "--no-such-option", CRAWLER_DATA_DIR=str(tmp_path), REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"
    )
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "bin/crawl --help" in err
    assert not (tmp_path / "db.sqlite3").exists()


def test_a_redis_that_is_away_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "db.sqlite3").write_bytes(new_database())
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    code, out, err = crawl("http://site.test/", CRAWLER_DATA_DIR=str(tmp_path), REDIS_URL=nowhere)
    assert (code, out) == (1, "")
    assert err.startswith(f"The Redis at {nowhere} does not respond")
    assert err.count("\n") == 1


def test_a_database_that_is_away_is_one_line(tmp_path: Path, redis_url: str) -> None:
    away = f"sqlite:///{tmp_path / 'no folder' / 'db.sqlite3'}"
    code, _, err = crawl("http://site.test/", CRAWLER_DATA_DIR=str(tmp_path), REDIS_URL=redis_url, DATABASE_URL=away)
    assert code == 1
    assert err.startswith("The database does not respond")
    assert err.count("\n") == 1


def test_a_setting_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    code, _, err = crawl("http://site.test/", CRAWLER_DATA_DIR=str(tmp_path), REDIS_URL="localhost")
    assert code == 1
    assert "REDIS_URL" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
def test_an_interrupted_crawl_takes_its_workers_with_it(
    tmp_path: Path, redis_url: str, slow_site: Site, number: signal.Signals, code: int
) -> None:
    with _running(tmp_path, redis_url, slow_site) as process:
        assert eventually(lambda: len(descendants(process.pid)) == 3)  # two workers, no more of a shell, their watchdog
        started = descendants(process.pid)
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == code
    assert not any(is_alive(pid) for pid in started)


def test_a_killed_crawl_takes_its_workers_with_it(tmp_path: Path, redis_url: str, slow_site: Site) -> None:
    with _running(tmp_path, redis_url, slow_site) as process:
        started = descendants(process.pid)
        process.kill()
    assert eventually(lambda: not any(is_alive(pid) for pid in started))


def _running(folder: Path, redis_url: str, slow_site: Site) -> subprocess.Popen[str]:
    """A crawl that has asked for its first pages."""
    (folder / "db.sqlite3").write_bytes(new_database())
    process = begin(f"{slow_site.url}/", "--allow-private", CRAWLER_DATA_DIR=str(folder), REDIS_URL=redis_url)
    assert eventually(lambda: len(slow_site.requests) > 3)
    return process
