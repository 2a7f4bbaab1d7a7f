"""The commands that take the id of a crawl (but `delete`, for which it is gone) say in one line that there is none."""

from uuid import UUID

import pytest

from tests.management.calls import exit_code

WORDS = {
    "export": ["--format", "csv"],
    "links_to": ["http://a.test/"],
    "page": ["http://a.test/"],
    "add": ["http://a.test/"],
    "again": ["--all"],
    "change": ["--delay", "2"],
}
COMMANDS = [
    "status",
    "why",
    "pause",
    "resume",
    "cancel",
    "finish",
    "dead_letters",
    "retry_failed",
    "report",
    "release_trap",
]


@pytest.mark.django_db
@pytest.mark.usefixtures("real_redis")
@pytest.mark.parametrize("command", [*COMMANDS, *WORDS])
@pytest.mark.parametrize("typed", [str(UUID(int=7)), "nonsense", "../x"])
def test_an_unknown_id_ends_with_2_and_one_line(command: str, typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(command, typed, *WORDS.get(command, [])) == 2
    assert capsys.readouterr() == ("", f"There is no crawl {typed!r}; `manage.py status` lists them.\n")
