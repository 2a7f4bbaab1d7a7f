"""What pip installs: it has one top-level name, crawls and serves from an empty environment, and leaves data alone."""

import json
import subprocess
import sys
import tarfile
import tomllib
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


QUIET = {"PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}  # pip leaves nothing in the home folder


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
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", **QUIET}

    def sizes(self) -> dict[str, int]:
        """The size in bytes of each distribution that came with the crawler, itself among them."""
        found: dict[str, int] = json.loads(self.run("python", "-c", SIZES).stdout)
        return {name: size for name, size in found.items() if name not in OF_AN_EMPTY_ENVIRONMENT}

    def files(self) -> set[str]:
        """The files of ours in the environment, other than what Python compiles: modules, command, man page."""
        found = self.environment.rglob("*crawler*")
        return {str(path) for path in found if path.suffix != ".pyc"}

    def migrations(self) -> set[str]:
        """Those of ours that are not applied."""
        listed = self.run("site-crawler", "admin", "showmigrations", "crawler").stdout
        return {line.split()[-1] for line in listed.splitlines() if line.startswith(" [ ]")}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with one commit, of the files as they are now."""
    folder = tmp_path_factory.mktemp("clone")
    for name in filter(None, git(ROOT, "ls-files", "-z").split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "--quiet", "--message=all")
    return folder


def wheel_of(source: Path, folder: Path) -> Path:
    """Built from a folder or an sdist."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return next(folder.glob("site_crawler-*.whl"))


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(clone, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    venv.create(folder / "builder", with_pip=True)
    python = folder / "builder" / "bin" / "python"
    requirement = tomllib.loads((clone / "pyproject.toml").read_text())["build-system"]["requires"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *requirement], check=True, timeout=300)
    script = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    subprocess.run([python, "-c", script], cwd=clone, check=True, capture_output=True, timeout=300)
    return next(folder.glob("site_crawler-*.tar.gz"))


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


def test_it_tells_its_commit_and_has_a_man_page(installed: Installed, clone: Path) -> None:
    commit = git(clone, "rev-parse", "--short=12", "HEAD").strip()
    assert installed.run("site-crawler", "--version").stdout.endswith(f" ({commit})\n")
    page = installed.environment / "share" / "man" / "man1" / "site-crawler.1"
    assert ".SS crawl\n" in page.read_text()


def test_the_sdist_has_what_the_wheel_is_made_of(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """Built from it without the clone, the wheel has the same files, and the commit."""
    rebuilt = ZipFile(wheel_of(sdist, tmp_path))
    assert sorted(rebuilt.namelist()) == sorted(ZipFile(wheel).namelist())
    assert rebuilt.read("crawler/commit.txt") == ZipFile(wheel).read("crawler/commit.txt")
    with tarfile.open(sdist) as packed:
        assert not any("/tests/" in name for name in packed.getnames())


def test_the_sdist_installs_and_crawls(sdist: Path, site: Site, tmp_path: Path) -> None:
    installed = Installed(tmp_path, sdist)
    receipt = installed.run("site-crawler", "crawl", f"{site.url}/", "--allow-private", "--workers", "1").stdout
    assert "Discovered   3 pages" in receipt


def test_an_upgrade_keeps_the_data_and_migrates_them(wheel: Path, site: Site, tmp_path: Path) -> None:
    """From the first commit that pip could install, whose tables are taken back by one migration."""
    first = git(ROOT, "log", "--diff-filter=A", "--format=%H", "--", "crawler/home.py").split()
    if not first:
        pytest.skip("this clone lacks the history")
    git(ROOT, "worktree", "add", "--quiet", "--detach", str(tmp_path / "before"), first[-1])
    try:
        before = wheel_of(tmp_path / "before", tmp_path / "wheels")
        applied = sorted(path.stem for path in (tmp_path / "before" / "crawler" / "migrations").glob("0*.py"))
    finally:
        git(ROOT, "worktree", "remove", "--force", str(tmp_path / "before"))
    installed = Installed(tmp_path, before)
    installed.run("site-crawler", "crawl", f"{site.url}/", "--allow-private", "--workers", "1")
    installed.run("site-crawler", "admin", "migrate", "crawler", applied[-2])
    installed.run("pip", "install", "--quiet", "--force-reinstall", "--no-deps", str(wheel))
    installed.run("pip", "install", "--quiet", str(wheel))  # whatever it needs in addition
    assert applied[-1] in installed.migrations()
    receipt = installed.run("site-crawler", "crawl", f"{site.url}/a", "--allow-private", "--workers", "1").stdout
    assert "Discovered   3 pages" in receipt
    assert installed.migrations() == set()
    crawls = json.loads(installed.run("site-crawler", "list", "--json").stdout)
    assert [crawl["receipt"]["fetched"] for crawl in crawls] == [3, 3]


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
            said = list(takewhile(lambda line: "Ctrl-C stops everything" not in line, up.stdout))
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
    data = installed.home / ".local" / "share" / "site-crawler"
    assert (data / "db.sqlite3").exists()
    files = {path for path in installed.home.rglob("*") if path.is_file()}
    assert {path for path in files if not path.is_relative_to(data)} == set()
