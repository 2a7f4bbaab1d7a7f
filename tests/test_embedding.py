"""The app in another Django project: that project's users, database, jobs, pages and settings, and our crawls."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.embedding import LOCAL_REDIS, complete, redis_url_of
from tests import redis_servers
from tests.conftest import free_port
from tests.documented import DOCS
from tests.site import Site, page
from tests.stack import ROOT

FILES = ROOT / "tests" / "embedded_project"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Any]]:
    """What `shop.visit` told, in a project made by `django-admin startproject` with one worker."""
    folder, port = tmp_path_factory.mktemp("embedding"), free_port()
    project = folder / "project"
    project.mkdir()
    with (
        redis_servers.serving(folder / "redis", port=port),
        Site({"/": page("/a", "/b"), "/a": page("/"), "/b": page()}).serving() as site,
    ):
        run = Commands(project, port)
        run("-m", "django", "startproject", "mysite", ".")
        shutil.copytree(FILES / "shop", project / "shop")
        shutil.copytree(FILES / "templates", project / "templates")
        settings, urls, app = map(documented, ("INSTALLED_APPS", "from django.urls", "from django.apps"))
        assert '"PORT": 6379' in settings
        own = settings.replace('"crawler"]', '"crawler", "shop"]').replace('"PORT": 6379', f'"PORT": {port}')
        append(project / "mysite" / "settings.py", own, (FILES / "own_settings.py").read_text())
        append(project / "mysite" / "urls.py", urls)
        append(project / "shop" / "apps.py", app)
        redis_servers.wait_until(redis_servers.answers(port))
        run("manage.py", "migrate")
        with run.beside("manage.py", "rqworker", "default", "crawl", "fetch") as worker:
            try:
                said = run("manage.py", "shell", "-c", "from shop.visit import main; main()", given=f"{site.url}/\n")
            finally:
                worker.terminate()
        yield {
            **json.loads(said.splitlines()[-1]),
            "site": site.url,
            "files": {path.name for path in project.iterdir()},
            "heard": (folder / "worker.log").read_text().splitlines(),
        }


def documented(first: str) -> str:
    """The block of the guide that begins like this."""
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / "howto" / "django.md").read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if block.startswith(first))


def append(file: Path, *texts: str) -> None:
    with file.open("a") as lines:
        lines.writelines(f"\n{text}" for text in texts)


class Commands:
    """Commands in the folder of the project, which know nothing of the settings of these tests."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.env = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "HOME": str(folder.parent),
        }

    def __call__(self, *command: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env=self.env,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def beside(self, *command: str) -> "subprocess.Popen[bytes]":
        with (self.folder.parent / "worker.log").open("wb") as log:
            return subprocess.Popen([sys.executable, *command], cwd=self.folder, env=self.env, stdout=log, stderr=log)


def test_its_code_starts_a_crawl_and_reads_the_results(visit: Mapping[str, Any]) -> None:
    assert (visit["state"], visit["pages"]) == ("finished", [f"{visit['site']}{path}" for path in ("/", "/a", "/b")])


def test_its_receivers_hear_of_each_page_and_of_the_end(visit: Mapping[str, Any]) -> None:
    assert {f"{visit['site']}{path} 2xx" for path in ("/", "/a", "/b")} <= set(visit["heard"])
    assert f"{visit['id']} finished 3" in visit["heard"]


def test_its_own_jobs_run_in_the_same_worker_with_any_argument(visit: Mapping[str, Any]) -> None:
    assert visit["orders"] == "7"


def test_its_users_log_in_on_our_page_where_it_has_none(visit: Mapping[str, Any]) -> None:
    assert visit["login"] == "/crawls/login/?next=/crawls/"


def test_its_users_start_a_crawl_and_see_it_within_its_own_page(visit: Mapping[str, Any]) -> None:
    assert visit["sent_to"].startswith("/crawls/crawls/")
    assert "Opening hours" in visit["crawl"]
    assert "Finished" in visit["crawl"]
    assert set(visit["statuses"].values()) == {200}


def test_the_api_is_below_the_address_of_the_pages(visit: Mapping[str, Any]) -> None:
    assert visit["of_the_api"].startswith("/crawls/api/v1/crawls/")


def test_the_audit_log_names_the_user_of_the_page(visit: Mapping[str, Any]) -> None:
    assert visit["actors"][1:] == ["ann"]


def test_its_own_error_pages_stay(visit: Mapping[str, Any]) -> None:
    assert "Site Crawler" not in visit["unknown_page"]


def test_data_are_kept_in_its_folder(visit: Mapping[str, Any]) -> None:
    assert {"db.sqlite3", "crawler-data"} <= visit["files"]


@pytest.mark.parametrize(
    ("queue", "url"),
    [
        ({}, LOCAL_REDIS),
        ({"URL": "redis://cache:1/2"}, "redis://cache:1/2"),
        ({"HOST": "cache"}, "redis://cache:6379/0"),
        ({"HOST": "cache", "PORT": 1, "DB": 2, "PASSWORD": "a/b"}, "redis://:a%2Fb@cache:1/2"),
        ({"HOST": "cache", "USERNAME": "me", "PASSWORD": "x", "SSL": True}, "rediss://me:x@cache:6379/0"),
        ({"UNIX_SOCKET_PATH": "/run/redis.sock", "DB": 3}, "unix:///run/redis.sock?db=3"),
    ],
)
def test_its_queues_say_which_redis(queue: Mapping[str, Any], url: str) -> None:
    assert redis_url_of(queue) == url


def test_an_installation_of_its_own_is_left_alone() -> None:
    project = SimpleNamespace(CRAWLER_EMBEDDED=False)
    complete(project)
    assert vars(project) == {"CRAWLER_EMBEDDED": False}


def test_the_redis_of_its_queues_is_used_whatever_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {"REDIS_URL": "redis://another:1/0", "CRAWLER_HOME": "x", "CRAWLER_DATA_DIR": "x"}.items():
        monkeypatch.setenv(name, value)
    queues = {"default": {"HOST": "cache", "PORT": 2, "DB": 3}}
    project = SimpleNamespace(BASE_DIR=tmp_path, RQ_QUEUES=queues, STORAGES={}, STATICFILES_DIRS=[], TEMPLATES=[])
    complete(project)
    assert project.REDIS_URL == "redis://cache:2/3"
    assert project.RQ_QUEUES["fetch"]["HOST"] == "cache"
