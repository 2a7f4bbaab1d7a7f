"""Another version of the project beside this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.bench import versions
from tools.bench.services import Unavailable

PYTHON = Path(sys.executable)
PINNED = "one==1\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits, `old` and `new`, in the place of the project's."""
    root = tmp_path / "repository"
    for name in ("crawler", "settings", "tools/bench"):
        (root / name).mkdir(parents=True)
        (root / name / "__init__.py").touch()
    (root / "requirements.txt").write_text(PINNED)
    (root / versions.DRIVER).write_text("OLD = True\n")
    monkeypatch.setattr(versions, "ROOT", root)
    git("init", "--quiet")
    commit("old")
    (root / versions.DRIVER).write_text("OLD = False\n")
    commit("new")
    return root


def git(*words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", *who, *words], cwd=versions.ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(tag: str) -> None:
    git("add", ".")
    git("commit", "--quiet", "--message", tag)
    git("tag", tag)


def test_its_files_are_those_of_the_commit_and_git_does_not_know_of_them(repository: Path, tmp_path: Path) -> None:
    (repository / ".env").write_text("CRAWLER_DELAY=1\n")
    (repository / versions.DRIVER).write_text("# not committed\n")

    there = versions.checked_out("old", tmp_path / "there", PYTHON, "requirements.txt")

    assert (there.root / versions.DRIVER).read_text() == "OLD = True\n"
    assert (there.root / ".env").read_text() == "CRAWLER_DELAY=1\n"
    assert there.title == f"old ({git('rev-parse', '--short', 'old')})"
    assert git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert versions.this(PYTHON).title == f"this version ({git('rev-parse', '--short', 'new')} changed)"


def test_the_same_packages_are_not_installed_again(repository: Path, tmp_path: Path) -> None:
    (repository / "requirements.txt").write_text(f"# another word about it\n{PINNED}")
    assert versions.checked_out("old", tmp_path / "there", PYTHON, "requirements.txt").python == PYTHON


@pytest.mark.long
def test_with_other_packages_it_has_an_environment_of_its_own(repository: Path, tmp_path: Path) -> None:
    (repository / "requirements.txt").write_text("# none, so that nothing is fetched\n")
    commit("bare")
    (repository / "requirements.txt").write_text(PINNED)

    there = versions.checked_out("bare", tmp_path / "there", PYTHON, "requirements.txt")

    assert there.python.is_relative_to(tmp_path / "there")
    assert subprocess.run([there.python, "-c", "import django"], capture_output=True, check=False).returncode == 1


def test_a_file_of_requirements_means_those_it_includes(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("one==1  # why\n\n# two==2\n")
    (tmp_path / "more.txt").write_text("-r some.txt\nthree==3\n")
    assert versions.pins(tmp_path, "more.txt") == {"one==1", "three==3"}


def test_what_git_does_not_know_is_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="git rev-parse failed: fatal"):
        versions.checked_out("never-made", tmp_path / "there", PYTHON, "requirements.txt")


def test_a_version_that_cannot_be_driven_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / versions.DRIVER).unlink()
    commit("undriven")
    with pytest.raises(Unavailable, match="undriven is too old"):
        versions.checked_out("undriven", tmp_path / "there", PYTHON, "requirements.txt")
