"""`manage.py delete`: permanently, and only after confirmation."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code
from tests.stack import ROOT, Stack

NOBODY = str(UUID(int=7))


@pytest.mark.django_db
@pytest.mark.usefixtures("real_redis")
@pytest.mark.parametrize("state", State)
def test_with_yes_it_is_gone_whatever_its_state(state: State, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(state=state, discovered=1)
    make_page(crawl, "http://site.test/")
    other = make_crawl("http://other.test/")
    assert exit_code("delete", str(crawl.id), "--yes") == 0
    assert capsys.readouterr().out == "Deleted: the crawl of site.test with its 1 page.\n"
    assert list(Crawl.objects.all()) == [other]
    assert not Page.objects.exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("real_redis")
def test_deleting_twice_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("delete", NOBODY, "--yes") == 0
    assert capsys.readouterr().out == "There is no such crawl; nothing was deleted.\n"


@pytest.mark.django_db
def test_what_is_no_id_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("delete", "nonsense", "--yes") == 2
    assert capsys.readouterr().err == "There is no crawl 'nonsense'; `manage.py status` lists them.\n"


@pytest.mark.django_db
def test_without_a_terminal_nothing_is_deleted_unless_told_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        assert exit_code("delete", str(make_crawl().id)) == 2
    assert "--yes" in capsys.readouterr().err
    assert Crawl.objects.exists()


@pytest.mark.parametrize(
    ("typed", "code", "left"),
    [("yes\n", 0, 0), ("\n", 1, 1), *(pytest.param(no, 1, 1, marks=pytest.mark.long) for no in ("no\n", "\x04"))],
)
def test_on_a_terminal_only_a_yes_deletes(stack: Stack, typed: str, code: int, left: int) -> None:
    crawl = stack.start("http://127.0.0.1:8/")
    returned, shown = on_a_terminal(stack, typed, "delete", str(crawl))
    assert "Delete the crawl of 127.0.0.1:8 with its 1 page? This cannot be undone. Type yes: " in shown
    assert returned == code
    assert len(stack.rows("SELECT id FROM crawler_crawl")) == left


def on_a_terminal(stack: Stack, typed: str, *words: str) -> tuple[int, str]:
    """Exit code and what was shown, when a person answers the first question with `typed`."""
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=stack.env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = ""
    try:
        while not shown.endswith("Type yes: "):
            shown += os.read(ours, 1000).decode()
        os.write(ours, typed.encode())
        return command.wait(60), shown
    finally:
        os.close(ours)
