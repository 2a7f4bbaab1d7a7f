"""`manage.py pause | resume | cancel`: the crawl has the new state, or the command says why not."""

import pytest

from crawler.core.protocol.completion import State
from crawler.crawls.actions import CANCEL, PAUSE, RESUME, Action, reply_to
from crawler.management.base import NO_WORKER
from crawler.models import Page
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        (PAUSE, State.RUNNING, State.PAUSED),
        (RESUME, State.PAUSED, State.RUNNING),
        (CANCEL, State.RUNNING, State.CANCELLED),
        (CANCEL, State.PAUSED, State.CANCELLED),
        (PAUSE, State.PAUSED, State.PAUSED),
        (RESUME, State.RUNNING, State.RUNNING),
        (CANCEL, State.CANCELLED, State.CANCELLED),
    ],
)
def test_a_crawl_that_is_as_it_was_asked_to_be_ends_with_0(
    action: Action, before: State, after: State, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_crawl(state=before, discovered=1)
    make_page(crawl, "http://site.test/")
    assert exit_code(action.name, str(crawl.id)) == 0
    crawl.refresh_from_db()
    assert crawl.state == after
    assert capsys.readouterr().out == f"{reply_to(action, moved=before != after, crawl_id=crawl.id).line}\n"


@pytest.mark.parametrize(
    ("action", "state"),
    [
        (PAUSE, State.FINISHED),
        (PAUSE, State.CANCELLED),
        (RESUME, State.FINISHED),
        (RESUME, State.CANCELLED),
        (CANCEL, State.FINISHED),
    ],
)
def test_a_crawl_that_cannot_be_ends_with_1_and_says_why(
    action: Action, state: State, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_crawl(state=state)
    assert exit_code(action.name, str(crawl.id)) == 1
    crawl.refresh_from_db()
    assert crawl.state == state
    assert capsys.readouterr() == ("", f"{reply_to(action, moved=False, crawl_id=crawl.id).line}\n")


def test_who_resumes_is_told_when_nobody_works(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code("resume", str(make_crawl(state=State.PAUSED).id))
    assert capsys.readouterr().err == f"{NO_WORKER}\n"


def test_cancelling_closes_what_was_open() -> None:
    crawl = make_crawl(discovered=1)
    page = make_page(crawl, "http://site.test/")
    exit_code("cancel", str(crawl.id))
    page.refresh_from_db()
    assert (page.status, page.outcome) == (Page.CLOSED, "cancelled")
