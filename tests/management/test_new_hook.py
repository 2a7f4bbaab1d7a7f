"""`manage.py new-hook` writes a module and a test that runs as it is, and overwrites nothing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crawler.capabilities.hooks.loading import loaded
from tests.management.calls import exit_code
from tests.stack import ROOT


def test_its_files_work_as_they_are(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hooks"
    assert exit_code("new_hook", "my_prices", "--folder", str(folder)) == 0
    assert "CRAWLER_HOOKS=my_prices.MyPrices" in capsys.readouterr().out
    monkeypatch.syspath_prepend(str(folder))
    settings.CRAWLER_HOOKS = ["my_prices.MyPrices"]
    assert [hook.methods for hook in loaded()] == [{"on_page", "on_closed", "on_finished"}]
    tested = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    ended = subprocess.run(tested, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert "3 passed" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("existing", ["my_prices.py", "test_my_prices.py"])
def test_it_overwrites_nothing(tmp_path: Path, existing: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / existing).write_text("mine")
    assert exit_code("new_hook", "my_prices", "--folder", str(tmp_path)) == 1
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(existing, "mine")]
    assert f"{tmp_path / existing} exists, so nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["My-Prices", "../prices", "my.prices", "", "1a", "crawler"])
def test_a_name_that_is_no_module_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("new_hook", name, "--folder", str(tmp_path)) == 2
    assert "is not a valid module name" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert exit_code("new_hook", "my_prices", "--folder", str(tmp_path / "file" / "hooks")) == 1
    assert "could not be written: Not a directory" in capsys.readouterr().err
