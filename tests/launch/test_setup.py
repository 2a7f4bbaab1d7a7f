"""The first start installs what is missing; an interrupted set-up is repaired; the second start has nothing to do."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.launch.install import Progress
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


@pytest.mark.long
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


@pytest.mark.long
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
        ("exit 1", "was not found"),  # such as Python 3.9
        (
            'case "$*" in *ensurepip*) exit 1;; esac',
            "cannot create virtual environments",
        ),  # Debian without python3-venv
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


@pytest.mark.parametrize("leads_to", ["a folder", "an environment", "nothing"])
def test_a_link_in_place_of_the_environment_is_refused_and_nothing_behind_it_is_touched(
    project: Path, tools: Path, tmp_path: Path, leads_to: str
) -> None:
    python_in(tools)
    elsewhere = tmp_path / "elsewhere"
    if leads_to != "nothing":
        (elsewhere / "bin").mkdir(parents=True)
        (elsewhere / "letters").write_text("dear aunt")
    if leads_to == "an environment":  # of another Python, or of another project
        (elsewhere / "bin" / "pip").write_text(f"#!{elsewhere}/bin/python\n")
        python_in(elsewhere / "bin", "python")
    (project / ".venv").symlink_to(elsewhere)
    before = contents(elsewhere)

    refused = start(project, tools)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.count("\n") == 1
    assert f"{project / '.venv'} is a symbolic link to {elsewhere}." in refused.stderr
    assert f"Remove the link (rm '{project / '.venv'}')" in refused.stderr
    assert contents(elsewhere) == before
    assert (project / ".venv").is_symlink()


@pytest.fixture
def installed_by_hand() -> Iterator[Path]:
    """A project whose `.venv` its operator has filled, and where the service that runs may not write."""
    folder = Path(tempfile.mkdtemp(prefix="crawler-test-"))
    for name in ("bin/_setup", "requirements.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho ready\n")
    for place in (folder, folder / "bin", python, python.parent):
        place.chmod(0o755)
    (folder / ".venv").chmod(0o555)
    yield folder
    (folder / ".venv").chmod(0o755)
    shutil.rmtree(folder)


def test_where_a_service_may_not_write_what_is_installed_is_used(installed_by_hand: Path) -> None:
    started = subprocess.run(
        ["sh", "-c", SCRIPT, "sh", installed_by_hand],
        env={"PATH": os.defpath},
        cwd=installed_by_hand,
        capture_output=True,
        text=True,
        check=False,
        user=65534 if os.geteuid() == 0 else None,  # root may write anywhere
    )
    assert (started.stdout, started.stderr) == ("ready\n", "")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below it by its path; none where there is no such folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("script", ["_setup", "crawl", "up", "worker", "test"])
def test_the_scripts_are_plain_sh(script: str) -> None:
    subprocess.run(["sh", "-n", ROOT / "bin" / script], check=True)


def test_the_progress_is_told_in_quarters_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(8)
    for number in range(8):
        progress.read(f"Collecting package-{number}==1.0 (from -r requirements.txt (line {number}))\n")
        progress.read("  Downloading package-1.0-py3-none-any.whl (18 kB)\n")
    progress.read("Installing collected packages: package-0, package-1\n")
    progress.end()
    assert capsys.readouterr().err.splitlines() == [
        "  2 of 8 packages: package-1",
        "  4 of 8 packages: package-3",
        "  6 of 8 packages: package-5",
        "  8 of 8 packages downloaded; installing them ...",
    ]


def test_nothing_is_told_of_a_set_up_without_packages(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(0)
    progress.read("WARNING: something\n")
    progress.end()
    assert capsys.readouterr().err == ""
