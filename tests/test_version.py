"""The version with its commit: recorded by a build, else asked of Git, else left out."""

import subprocess
from pathlib import Path

import pytest

from crawler import __version__, version

COMMIT = ["-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "--quiet", "--message=first"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "clone" / "crawler"
    folder.mkdir(parents=True)
    (folder / "a.py").touch()
    return folder


def git(package: Path, *arguments: str) -> str:
    command = ["git", "-C", str(package.parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def clone(package: Path) -> str:
    """Make it a clone, and tell the commit."""
    git(package, "init", "--quiet")
    git(package, "add", ".")
    git(package, *COMMIT)
    return git(package, "rev-parse", "HEAD")


def test_a_build_has_recorded_it(package: Path) -> None:
    clone(package)
    (package / version.RECORD).write_text("0123456789ab\n")
    assert version.commit_of(package) == "0123456789ab"


def test_a_clone_asks_git_also_whether_files_were_changed(package: Path) -> None:
    commit = clone(package)
    assert version.commit_of(package) == commit[:12]
    (package / "a.py").write_text("changed")
    assert version.commit_of(package) == f"{commit[:12]}-dirty"


def test_a_folder_within_the_repository_of_another_project_has_none(package: Path) -> None:
    clone(package.parent)
    assert version.commit_of(package) == ""


def test_without_git_there_is_none(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone(package)
    monkeypatch.setenv("PATH", str(package))
    assert version.commit_of(package) == ""


@pytest.mark.parametrize(
    ("commit", "line"),
    [("0123456789ab", f"Site Crawler {__version__} (0123456789ab)"), ("", f"Site Crawler {__version__}")],
)
def test_it_is_one_line(commit: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "commit_of", lambda package: commit)
    assert version.described() == line
