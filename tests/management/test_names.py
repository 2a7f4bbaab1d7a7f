"""`manage.py` accepts command names with hyphens and underscores."""

from contextlib import suppress

import pytest
from django.core.management import execute_from_command_line

from crawler.launch.manage import as_named


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


@pytest.mark.parametrize("words", [["dead_letters", "--help"], ["help", "dead-letters"]])
def test_the_help_shows_the_name_with_the_hyphen(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(SystemExit):
        execute_from_command_line(as_named(["manage.py", *words]))
    assert "usage: manage.py dead-letters " in capsys.readouterr().out
