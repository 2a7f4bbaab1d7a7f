"""What pip installs: it has one top-level name, crawls and serves from an empty environment, and leaves data alone."""

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from tests.conftest import free_port
from tests.site import Site, page
from tests.stack import ROOT

pytestmark = pytest.mark.long


MAX_DISTRIBUTIONS, MAX_BYTES = 45, 150_000_000
OF_AN_EMPTY_ENVIRONMENT = {"pip", "setuptools"}
SIZES = """
import json
from importlib.metadata import distributions
files = {found.name: [found.locate_file(file) for file in found.files or ()] for found in distributions()}
print(json.dumps({name: sum(file.stat().st_size for file in all if file.exists()) for name, all in files.items()}))
"""


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

    def sizes(self) -> dict[str, int]:
        """The size in bytes of each distribution that came with the crawler, itself among them."""
        found: dict[str, int] = json.loads(self.run("python", "-c", SIZES).stdout)
        return {name: size for name, size in found.items() if name not in OF_AN_EMPTY_ENVIRONMENT}

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
    assert {name for name in names if not name.endswith((".dist-info", ".data"))} == {"crawler"}  # metadata, man page


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
    port = free_port()
    command = [str(installed.environment / "bin" / "site-crawler"), "up", "--port", str(port)]
    with subprocess.Popen(command, cwd="/", env=installed.variables, stdout=subprocess.PIPE, text=True) as up:
        try:
            assert up.stdout
            said = list(takewhile(lambda line: "Ctrl-C stops all of it" not in line, up.stdout))
            assert any('not installed (pip install "site-crawler[dashboard]")' in line for line in said)
            with urlopen(f"http://127.0.0.1:{port}/", timeout=10) as page:
                assert "Log in" in page.read().decode()
        finally:
            up.terminate()
            up.communicate(timeout=60)
    assert up.returncode == 143


def test_the_base_is_small_and_an_extra_adds_what_it_is_for(wheel: Path, site: Site, tmp_path: Path) -> None:
    installed = Installed(tmp_path, wheel)
    sizes = installed.sizes()
    assert len(sizes) <= MAX_DISTRIBUTIONS, sorted(sizes)
    assert sum(sizes.values()) <= MAX_BYTES, sizes
    assert installed.run("site-crawler", "admin", "check", "--fail-level", "WARNING").stderr == ""

    file = installed.home / "pages.parquet"
    crawl = ["site-crawler", "crawl", f"{site.url}/", "--allow-private", "--workers", "1", "--export", str(file)]
    refused = installed.run(*crawl, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        'Parquet files need pyarrow, which is not installed: pip install "site-crawler[parquet]"\n'
    )
    assert "There are no crawls yet" in installed.run("site-crawler", "list").stdout
    assert not site.requests

    installed.run("pip", "install", "--quiet", f"{wheel}[parquet]")
    assert installed.sizes().keys() - sizes.keys() == {"pyarrow"}
    installed.run(*crawl)
    assert file.read_bytes()[:4] == b"PAR1"


def test_pip_removes_all_of_it_but_the_data(wheel: Path, tmp_path: Path) -> None:
    installed = Installed(tmp_path, wheel)
    installed.run("site-crawler", "admin", "migrate")
    installed.run("pip", "uninstall", "--yes", "site-crawler")
    assert installed.files() == set()
    assert (installed.home / ".local" / "share" / "site-crawler" / "db.sqlite3").exists()
