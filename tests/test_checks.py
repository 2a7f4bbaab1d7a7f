"""`manage.py check --deploy` under the production settings, with what the documentation says to set and without it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.stack import ROOT

TEXT = (ROOT / "docs" / "deployment.md").read_text()


def documented() -> dict[str, str]:
    """The settings of docs/deployment.md, filled in."""
    given = dict(re.findall(r"^ {4}([A-Z_]+)=(\S+)$", TEXT.partition("In `/etc/crawler.env`")[2], re.MULTILINE))
    secret = "0123456789abcdef" * 4
    return {name: re.sub(r"SECRET_\d|PASSWORD_\d", secret, value) for name, value in given.items()}


def checked(python: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **documented(), "CRAWLER_DATA_DIR": str(folder), **settings}
    environment["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"  # its driver is no part of this
    environment.pop("CRAWLER_CONTENT_STORAGE", None)
    # Checks of this kind alone: the others load every page, and have nothing to do with where it runs.
    command = [python, "manage.py", "check", "--deploy", "--tag", "security", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_with_what_is_documented_there_is_nothing_to_say(python: str, tmp_path: Path) -> None:
    said = checked(python, tmp_path)
    assert (said.returncode, said.stderr, "no issues" in said.stdout) == (0, "", True)


def test_without_a_password_for_redis_production_does_not_start(python: str, tmp_path: Path) -> None:
    said = checked(python, tmp_path, REDIS_URL="redis://127.0.0.1:6379/0")
    assert said.returncode == 1
    assert said.stderr.startswith("REDIS_URL has no password")
    assert "Traceback" not in said.stderr
