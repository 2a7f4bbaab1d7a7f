"""What pip installs: it has one top-level name, crawls and serves from an empty environment, and leaves data alone."""

import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.conftest import free_port
from tests.site import Site, page
from tests.stack import ROOT

pytestmark = pytest.mark.long


class Installed:
    """A virtual environment of its own, and a home folder."""

    def __init__(self, folder: Path, package: Path) -> None:
        self.home, self.environment = folder / "home", folder / "environment"
        self.home.mkdir()
        venv.create(self.environment, with_pip=True)
        self.run("pip", "install", "--quiet", str(package))

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [str(self.environment / "bin" / program), *arguments]
        return subprocess.run(
            command, cwd="/", env=self.variables, capture_output=True, text=True, check=check, timeout=300
        )

    @property
    def variables(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def files(self) -> set[str]:
        """What is in the environment, other than what pip brings and Python compiles."""
        found = (self.environment / "lib").rglob("crawler*")
        return {path.name for path in found if path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    copy = folder / "source"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(copy)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return next(folder.glob("site_crawler-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": page("/a", "/b"), "/a": page("/"), "/b": page()}).serving() as site:
        yield site


def test_it_has_one_name_at_the_top(wheel: Path) -> None:
    names = {name.split("/")[0] for name in ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"crawler"}


def test_it_crawls_with_nothing_running_and_keeps_data_in_the_folder_of_the_user(
    installed: Installed, site: Site
) -> None:
    before = installed.files()
    receipt = installed.run("site-crawler", "crawl", f"{site.url}/", "--allow-private", "--workers", "1").stdout
    assert "Discovered   3 pages" in receipt
    assert "finished" in installed.run("site-crawler", "list").stdout
    assert (installed.home / ".local" / "share" / "site-crawler" / "db.sqlite3").exists()
    assert installed.files() == before


def test_the_web_pages_are_served(installed: Installed) -> None:
    ports = [str(free_port()), str(free_port())]
    command = [
        str(installed.environment / "bin" / "site-crawler"),
        "up",
        "--port",
        ports[0],
        "--dashboard-port",
        ports[1],
    ]
    with subprocess.Popen(command, cwd="/", env=installed.variables, stdout=subprocess.PIPE, text=True) as up:
        try:
            assert up.stdout
            assert any("Ctrl-C stops all of it" in line for line in up.stdout)
        finally:
            up.terminate()
            up.communicate(timeout=60)
    assert up.returncode == 143


def test_pip_removes_all_of_it_but_the_data(wheel: Path, tmp_path: Path) -> None:
    installed = Installed(tmp_path, wheel)
    installed.run("site-crawler", "admin", "migrate")
    installed.run("pip", "uninstall", "--yes", "site-crawler")
    assert installed.files() == set()
    assert (installed.home / ".local" / "share" / "site-crawler" / "db.sqlite3").exists()
