"""What a person is told who asked to pause, resume, cancel, delete or retry."""

from __future__ import annotations

from uuid import UUID

import pytest

from crawler.core.crawl.completion import State
from crawler.reports.text import GONE, Verb, to_delete, to_retry, to_verb
from tests.factories import make_crawl

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("verb", "line"),
    [
        (Verb.PAUSE, "Paused. Dispatched pages are still processed; no further pages are requested."),
        (Verb.RESUME, "Resumed. It goes on where it stopped."),
        (Verb.CANCEL, "Cancelled. Open pages will not be requested any more."),
    ],
)
def test_what_was_done_is_said(verb: Verb, line: str) -> None:
    reply = to_verb(verb, moved=True, crawl_id=UUID(int=7))
    assert (reply.line, reply.is_so) == (line, True)


@pytest.mark.parametrize(
    ("verb", "state", "line", "is_so"),
    [
        (Verb.PAUSE, State.PAUSED, "It is paused already.", True),
        (Verb.RESUME, State.RUNNING, "It is running already.", True),
        (Verb.CANCEL, State.CANCELLED, "It was cancelled already.", True),
        (Verb.PAUSE, State.FINISHED, "It is finished; there is nothing to pause.", False),
        (Verb.RESUME, State.FINISHED, "It is finished; there is nothing to resume.", False),
        (Verb.CANCEL, State.FINISHED, "It is finished; there is nothing to cancel.", False),
        (Verb.PAUSE, State.CANCELLED, "It was cancelled; there is nothing to pause.", False),
        (Verb.RESUME, State.CANCELLED, "It was cancelled; there is nothing to resume.", False),
        # It could have been paused now, but it was not at the moment of the call.
        (
            Verb.PAUSE,
            State.RUNNING,
            "It is running: another user changed its state at the same time. Try again.",
            False,
        ),
    ],
)
def test_where_nothing_was_to_be_done_the_state_says_why(verb: Verb, state: State, line: str, is_so: bool) -> None:
    reply = to_verb(verb, moved=False, crawl_id=make_crawl(state=state).id)
    assert (reply.line, reply.is_so) == (line, is_so)


@pytest.mark.parametrize("verb", Verb)
def test_a_crawl_that_was_deleted_meanwhile_is_gone(verb: Verb) -> None:
    assert to_verb(verb, moved=False, crawl_id=UUID(int=7)) is GONE


def test_a_deleted_crawl_is_named_with_its_size() -> None:
    crawl = make_crawl(discovered=1170)
    assert to_delete(crawl, deleted=True).line == "Deleted: the crawl of site.test with its 1,170 pages."
    assert to_delete(crawl, deleted=False).line == "It was deleted already."


def test_pages_sent_again_are_counted() -> None:
    assert [to_retry(number).line for number in (0, 1, 2)] == [
        "There is nothing to send again.",
        "Sent again: 1 page.",
        "Sent again: 2 pages.",
    ]
