"""`manage.py` finds the project's environment."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with `manage.py` alone."""
    shutil.copy(ROOT / "manage.py", tmp_path)
    return tmp_path


def bare(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """By a Python that has the standard library alone, from another folder."""
    command = [sys.executable, "-S", str(project / "manage.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env={}, timeout=60)


def test_a_python_without_the_packages_goes_on_with_that_of_the_environment(project: Path) -> None:
    python = project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    assert bare(project, "login-link", "ann").stdout == f"{project / 'manage.py'} login-link ann\n"


def test_without_an_environment_it_says_how_to_make_one(project: Path) -> None:
    ended = bare(project, "login-link")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.count("\n") == 1
    assert "Run bin/up or bin/crawl there once, which create it" in ended.stderr
