"""The note that `bin/up` leaves in the data folder."""

import json
import subprocess
import sys
from pathlib import Path

from crawler.running import FILE, announced, lacking, running, settings_of_workers

ADDRESS = "http://127.0.0.1:8123"
ROOT = Path(__file__).resolve().parents[1]


def test_it_is_known_while_the_process_lives_and_no_longer(tmp_path: Path) -> None:
    with announced(tmp_path, ADDRESS, "redis://", {}):
        note = running(tmp_path)
        assert note is not None
        assert note.address == ADDRESS
    assert running(tmp_path) is None


def test_without_a_note_nothing_runs(tmp_path: Path) -> None:
    assert running(tmp_path) is None


def test_the_note_of_a_killed_process_is_ignored(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom crawler.running import announced\n"
        "with announced(Path(sys.argv[1]), 'http://127.0.0.1:1', '', {}):\n    os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-P", "-c", script, str(tmp_path)]
    assert subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, check=False).returncode == -9
    assert (tmp_path / FILE).read_text()
    assert running(tmp_path) is None


def test_a_second_installation_leaves_the_note_of_the_first(tmp_path: Path) -> None:
    with announced(tmp_path, ADDRESS, "", {}):
        with announced(tmp_path, "http://127.0.0.1:9", "", {}, timeout=0.0):
            note = running(tmp_path)
        assert note is not None
        assert note.address == ADDRESS
        assert running(tmp_path) == note


def test_a_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    with announced(tmp_path, ADDRESS, "", {}):
        (tmp_path / FILE).write_text(json.dumps({"of": "a later version"}))
        assert running(tmp_path) is None


def test_no_value_of_a_setting_is_in_the_note_and_others_cannot_read_it(tmp_path: Path) -> None:
    with announced(tmp_path, ADDRESS, "redis://:pass-word@a", {"CRAWLER_PROXY": "http://u:secret@proxy"}):
        text = (tmp_path / FILE).read_text()
        assert "secret" not in text
        assert "pass-word" not in text
        assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_it_names_the_settings_that_are_lacking_or_other_ones(tmp_path: Path) -> None:
    has = {"CRAWLER_HOOKS": "a.B", "CRAWLER_SPIDERS": "c.D", "CRAWLER_PROXY": "x"}
    with announced(tmp_path, ADDRESS, "", has):
        note = running(tmp_path)
    assert note is not None
    given = {"CRAWLER_HOOKS": "a.B", "CRAWLER_SPIDERS": "e.F", "CRAWLER_PAGE_SECONDS": "5", "HOME": "/"}
    assert lacking(note, given) == ["CRAWLER_PAGE_SECONDS", "CRAWLER_SPIDERS"]


def test_settings_of_one_process_or_of_the_web_server_do_not_matter() -> None:
    given = {"CRAWLER_LOG_LEVEL": "x", "CRAWLER_METRICS_TOKEN_FILE": "x", "SECRET_KEY": "x", "CRAWLER_HOOKS": "x"}
    assert sorted(settings_of_workers(given)) == ["CRAWLER_HOOKS", "SECRET_KEY"]
