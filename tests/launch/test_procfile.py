"""The Procfile's commands, in a clone and where pip has installed the project."""

import sys
from pathlib import Path

from crawler.launch.procfile import commands
from tests.stack import ROOT


def test_in_a_clone_they_are_as_written() -> None:
    assert commands(ROOT)["worker"] == "bin/worker"
    assert (ROOT / "Procfile").read_text().splitlines() == [": ".join(line) for line in commands(ROOT).items()]


def test_elsewhere_they_run_modules_by_this_python(tmp_path: Path) -> None:
    installed = commands(tmp_path)
    assert installed.keys() == commands(ROOT).keys()
    assert installed["clock"] == f"{sys.executable} -P -m crawler.launch.site_crawler admin clock"
    assert installed["web"].startswith(f"{sys.executable} -P -m gunicorn -c python:crawler.settings.gunicorn ")
    assert {command.split()[:3][-1] for command in installed.values()} == {"-m"}
