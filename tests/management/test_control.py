"""`manage.py pause | resume | cancel`: the crawl has the new state, or the command says why not."""

from __future__ import annotations

from uuid import UUID

import pytest

from crawler.core.crawl.completion import State
from crawler.management.base import NO_WORKER
from crawler.models import Page
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code
from tests.stack import Stack

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

COMMANDS = ["pause", "resume", "cancel"]


@pytest.mark.parametrize(
    ("command", "before", "after", "line"),
    [
        (
            "pause",
            State.RUNNING,
            State.PAUSED,
            "Paused. Dispatched pages are still processed; no further pages are requested.",
        ),
        ("resume", State.PAUSED, State.RUNNING, "Resumed. It goes on where it stopped."),
        ("cancel", State.RUNNING, State.CANCELLED, "Cancelled. Open pages will not be requested any more."),
        ("cancel", State.PAUSED, State.CANCELLED, "Cancelled. Open pages will not be requested any more."),
        ("pause", State.PAUSED, State.PAUSED, "It is paused already."),
        ("resume", State.RUNNING, State.RUNNING, "It is running already."),
        ("cancel", State.CANCELLED, State.CANCELLED, "It was cancelled already."),
    ],
)
def test_a_crawl_that_is_as_it_was_asked_to_be_ends_with_0(
    command: str, before: State, after: State, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_crawl(state=before, discovered=1)
    make_page(crawl, "http://site.test/")
    assert exit_code(command, str(crawl.id)) == 0
    crawl.refresh_from_db()
    assert crawl.state == after
    assert capsys.readouterr().out == f"{line}\n"


def test_nothing_else_is_said(stack: Stack) -> None:
    crawl = str(stack.start("http://127.0.0.1:8/"))
    done = stack.run("python", "manage.py", "cancel", crawl)
    assert (done.stdout, done.stderr) == ("Cancelled. Open pages will not be requested any more.\n", "")


@pytest.mark.parametrize(
    ("command", "state", "line"),
    [
        ("pause", State.FINISHED, "It is finished; there is nothing to pause."),
        ("pause", State.CANCELLED, "It was cancelled; there is nothing to pause."),
        ("resume", State.FINISHED, "It is finished; there is nothing to resume."),
        ("resume", State.CANCELLED, "It was cancelled; there is nothing to resume."),
        ("cancel", State.FINISHED, "It is finished; there is nothing to cancel."),
    ],
)
def test_a_crawl_that_cannot_be_ends_with_1_and_says_why(
    command: str, state: State, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_crawl(state=state)
    assert exit_code(command, str(crawl.id)) == 1
    crawl.refresh_from_db()
    assert crawl.state == state
    assert capsys.readouterr() == ("", f"{line}\n")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("typed", [str(UUID(int=7)), "nonsense"])
def test_an_unknown_id_ends_with_2_and_one_line(command: str, typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(command, typed) == 2
    assert capsys.readouterr() == ("", f"There is no crawl {typed!r}; `manage.py status` lists them.\n")


def test_who_resumes_is_told_when_nobody_works(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code("resume", str(make_crawl(state=State.PAUSED).id))
    assert capsys.readouterr().err == f"{NO_WORKER}\n"


def test_cancelling_closes_what_was_open() -> None:
    crawl = make_crawl(discovered=1)
    page = make_page(crawl, "http://site.test/")
    exit_code("cancel", str(crawl.id))
    page.refresh_from_db()
    assert (page.status, page.outcome) == (Page.CLOSED, "cancelled")
