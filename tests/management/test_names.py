"""`manage.py` takes the names of our commands with a hyphen as with an underscore."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from manage import as_named

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["dead-letters", "ID"], ["dead_letters", "ID"]),
        (["dead_letters", "ID"], ["dead_letters", "ID"]),
        (["retry-failed", "ID", "--page", "retry-failed"], ["retry_failed", "ID", "--page", "retry-failed"]),
        (["login-link"], ["login_link"]),
        (["help", "dead-letters"], ["help", "dead_letters"]),
        (["status", "dead-letters"], ["status", "dead-letters"]),  # an argument is left alone
        (["no-such-command"], ["no-such-command"]),
        (["--help"], ["--help"]),
        ([], []),
    ],
)
def test_a_command_is_found_by_either_name(typed: list[str], meant: list[str]) -> None:
    assert as_named(["manage.py", *typed]) == ["manage.py", *meant]


@pytest.mark.parametrize("words", [["dead-letters", "--help"], ["dead_letters", "--help"], ["help", "dead-letters"]])
def test_the_help_shows_the_name_with_the_hyphen(words: list[str]) -> None:
    shown = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "dead-letters [--json] [-h] ID" in shown.stdout.replace("[-h] [--json]", "[--json] [-h]")
