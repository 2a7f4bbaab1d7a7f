"""The web process, as the Procfile, systemd and the container start it."""

import shlex
import subprocess
import sys
from pathlib import Path

from tests.launch.conftest import environment
from tests.stack import ROOT

WEB = (ROOT / "Procfile").read_text().splitlines()[0].removeprefix("web: gunicorn ").replace("${PORT:-8000}", "0")


def test_a_setting_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gunicorn", *shlex.split(WEB), "--log-level", "warning"],
        cwd=ROOT,
        env=environment(CRAWLER_STARTUP_TIMEOUT="soon", CRAWLER_DATA_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
    assert "CRAWLER_STARTUP_TIMEOUT is 'soon'; it must be a number" in ended.stderr
