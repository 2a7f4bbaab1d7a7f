"""How a measured program is run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tools.bench import ours


def test_a_program_is_timed_from_its_start_to_its_exit(tmp_path: Path) -> None:
    ended = ours.run(["sh", "-c", "sleep 0.2; echo done; exit 3"], tmp_path / "log", os.environ, timeout=10)

    assert ended.code == 3
    assert 0.2 <= ended.seconds < 5
    assert ours.last_words(tmp_path / "log") == "done"


def test_cpu_time_of_a_program_is_that_of_all_it_started(tmp_path: Path) -> None:
    work = "import time\nwhile time.process_time() < 0.2: pass"

    ended = ours.run(["sh", "-c", f'{sys.executable} -c "{work}"; true'], tmp_path / "log", os.environ, timeout=20)

    assert 0.2 <= ended.cpu_seconds < 2


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(ours.Failed, match=r"not finished after 0\.2 s"):
        ours.run(["sleep", "30"], tmp_path / "log", os.environ, timeout=0.2)


def test_settings_of_whoever_measures_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_MAX_BODY_MB", "1")
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere/important")

    environment = ours.environment_of(tmp_path, Path("/a/bin/python"), "redis://127.0.0.1:1/0", None)

    assert "CRAWLER_MAX_BODY_MB" not in environment
    assert "DATABASE_URL" not in environment
    assert environment["CRAWLER_DATA_DIR"] == str(tmp_path)
