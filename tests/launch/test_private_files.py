"""What the crawler stores is for its user alone, whatever the umask of the shell."""

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import site
from tests.launch.conftest import environment
from tests.launch.test_worker import without_settings
from tests.site import Site
from tests.stack import ROOT


@pytest.fixture
def small_site() -> Iterator[Site]:
    with Site({"/": site.page("/a"), "/a": site.page("/")}).serving() as served:
        yield served


def open_to_others(folder: Path) -> dict[str, str]:
    paths = [folder, *folder.rglob("*")]
    found = {str(path.relative_to(folder)): path.lstat().st_mode for path in paths}
    return {name: stat.filemode(mode) for name, mode in found.items() if mode & 0o077}


@pytest.mark.long
def test_a_crawl_leaves_nothing_that_others_can_read(tmp_path: Path, small_site: Site) -> None:
    """With the embedded Redis, its data file, the database, kept content, a mail and an export."""
    work = tmp_path / "work"
    work.mkdir(mode=0o700)
    data, export = work / "data", work / "pages.csv"
    arguments = [f"{small_site.url}/", "--allow-private", "--keep", "warc", "--export", str(export)]
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "crawler.launch.crawl", *arguments, "--notify", "mailto:me@site.test"],
        env={**without_settings(), "PYTHONPATH": str(ROOT), "CRAWLER_DATA_DIR": str(data)},
        umask=0,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    names = {path.name for path in data.rglob("*")}
    assert {"db.sqlite3", "dump.rdb", "redis.log", "workers.log"} <= names
    assert any(path.suffix == ".gz" for path in (data / "content").rglob("*"))
    assert export.exists()
    assert open_to_others(work) == {}


def test_static_files_can_be_read_by_a_web_server(tmp_path: Path) -> None:
    script = "import sys; sys.argv = ['manage.py', {0!r}]; import os, crawler.settings.base; print(oct(os.umask(0)))"
    found = [
        subprocess.run(
            [sys.executable, "-c", script.format(command)],
            cwd=ROOT,
            env=environment(CRAWLER_DATA_DIR=str(tmp_path)),
            umask=0o022,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for command in ("collectstatic", "clock")
    ]
    assert found == ["0o22", "0o77"]
