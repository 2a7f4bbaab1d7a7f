"""`deploy/try`: its command line, and that it runs what the guide tells a user to type."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.test_container import GUIDE, OURS, ROOT
from tools.containers import __main__ as command
from tools.containers.trial import CRAWL, DOWN, GRACE_S, SCALE, UP, UP_WITH_BROWSER

SCRIPTS = [
    ROOT / "deploy" / "try",
    *(ROOT / "deploy" / "container").glob("s*"),
    *ROOT.glob("tools/containers/*/*/start"),
]
DOCUMENTS = [ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_its_scripts_can_be_run(script: Path) -> None:
    subprocess.run(["sh", "-n", script], check=True)
    assert os.access(script, os.X_OK)


def test_it_needs_no_package_to_say_what_it_does() -> None:
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"}
    done = subprocess.run(
        [ROOT / "deploy" / "try", "--help"], capture_output=True, text=True, check=True, cwd=os.sep, env=path
    )
    assert done.stdout.startswith("usage: deploy/try")


def test_it_uses_pythons_own_library_only() -> None:
    files = [file for file in (ROOT / "tests" / "containers").glob("*.py") if not file.name.startswith("test_")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    imported = {line.split()[1] for line in lines if line.startswith(("from ", "import "))}
    foreign = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert foreign <= {"tools.containers", *(f"tools.containers.{file.stem}" for file in files)}


def test_the_documents_have_options_of_it_only() -> None:
    typed = [
        line for file in DOCUMENTS for line in re.findall(r"^ {4}(?:sudo )?deploy/try(.*)$", file.read_text(), re.M)
    ]
    assert typed
    for line in typed:
        command._parser().parse_args(shlex.split(line, comments=True))


@pytest.mark.parametrize("words", [UP, CRAWL, SCALE, UP_WITH_BROWSER, DOWN], ids=" ".join)
def test_it_types_what_the_guide_says(words: tuple[str, ...]) -> None:
    assert f"podman-compose -f deploy/compose.yaml {' '.join(words)}" in GUIDE


def test_it_stops_processes_as_the_compose_file_does() -> None:
    assert {service["stop_grace_period"] for service in OURS.values()} == {f"{GRACE_S}s"}


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: name)
    (tmp_path / "letter").touch()
    assert command.main(["--folder", str(tmp_path)]) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["letter"]
