"""The first start makes what is missing, a broken-off one is repaired, and the second has nothing to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stack import ROOT

NEEDED = ("cat", "cksum", "dirname", "env", "sh", "sleep")
SCRIPT = 'root=$1; . "$root/bin/_setup"; set_up requirements.txt; exec "$python" -c "print(\'ready\')"'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder with spaces in its path whose packages are soon installed: there are none."""
    root = tmp_path / "a project in here"
    for name in ("bin/_setup", "crawler/launch/install.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "requirements.txt").write_text("# no packages\n")
    return root


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with the few tools a script needs, and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found, f"{name} is missing on this machine"
        (folder / name).symlink_to(found)
    return folder


def start(project: Path, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", SCRIPT, "sh", project],
        env={"PATH": str(path), "PIP_NO_INDEX": "1"},
        cwd=project.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def python_in(tools: Path, name: str = "python3") -> None:
    (tools / name).symlink_to(Path(sys.executable).resolve())


def stamp_of(project: Path) -> Path:
    return project / ".venv" / "requirements.txt.stamp"


def test_it_is_set_up_once_and_again_when_something_is_amiss(project: Path, tools: Path) -> None:
    python_in(tools, "python3.11")

    first = start(project, tools)
    assert first.stdout == "ready\n"
    assert first.stderr.count("\n") == 1
    assert "One-time set-up" in first.stderr

    assert start(project, tools).stderr == ""  # nothing to do

    (project / "requirements.txt").write_text("no-such-package-anywhere==1.0\n")
    failed = start(project, tools)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "No matching distribution found for no-such-package-anywhere==1.0" in failed.stderr
    assert failed.stderr.endswith("The next start tries again.\n")
    assert not stamp_of(project).exists()

    (project / "requirements.txt").write_text("# still no packages\n")
    assert "One-time set-up" in start(project, tools).stderr  # other packages are wanted

    moved = project.rename(project.with_name("elsewhere"))
    assert start(moved, tools).stdout == "ready\n"  # its programs name the folder they lie in
    assert str(moved) in (moved / ".venv" / "bin" / "pip").read_text()


def test_a_set_up_that_was_broken_off_is_repaired(project: Path, tools: Path) -> None:
    python_in(tools)
    (project / ".venv" / "bin").mkdir(parents=True)
    python_in(project / ".venv" / "bin", "python")  # and no more: no pip, no stamp

    repaired = start(project, tools)

    assert repaired.stdout == "ready\n"
    assert stamp_of(project).exists()


def test_without_python_it_says_what_to_install(project: Path, tools: Path) -> None:
    started = start(project, tools)
    assert started.returncode == 1
    for hint in ("Python 3.11, 3.12, 3.13 or 3.14 is needed", "apt install", "brew install", "dnf install"):
        assert hint in started.stderr


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("exit 1", "none was found"),  # such as Python 3.9
        ('case "$*" in *ensurepip*) exit 1;; esac', "cannot make virtual environments"),  # Debian without python3-venv
    ],
)
def test_a_python_that_will_not_do_is_told_apart(project: Path, tools: Path, answer: str, words: str) -> None:
    (tools / "python3").write_text(f"#!/bin/sh\n{answer}\n")
    (tools / "python3").chmod(0o755)
    started = start(project, tools)
    assert started.returncode == 1
    assert words in started.stderr


def test_a_folder_in_which_nothing_can_be_made_is_said_in_one_line(project: Path, tools: Path) -> None:
    python_in(tools)
    (project / ".venv").write_text("in the way")
    started = start(project, tools)
    assert started.returncode == 1
    assert "Make the project folder writable" in started.stderr
    assert "Traceback" not in started.stderr


@pytest.mark.parametrize("script", ["_setup", "crawl", "up", "test"])
def test_the_scripts_are_plain_sh(script: str) -> None:
    subprocess.run(["sh", "-n", ROOT / "bin" / script], check=True)
