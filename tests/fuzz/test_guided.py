"""The program that fuzzes the page scanner by its branches can be built and finds nothing in a few seconds."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is missing: apt-get install clang")
def test_it_tries_pages_and_finds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.guided", "--seconds", "5", "--out", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert "stat::number_of_executed_units" in ended.stderr
    assert list(tmp_path.iterdir()) == []
