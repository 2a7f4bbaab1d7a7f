"""What a person is told who asked to pause, resume, cancel, delete or retry."""

from __future__ import annotations

from uuid import UUID

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.protocol.completion import State
from crawler.reports.text import GONE, Verb, to_delete, to_retry, to_verb
from tests.factories import make_crawl
from tests.text_files import listed

pytestmark = pytest.mark.django_db

ALREADY = {
    *((Verb.PAUSE, State.PAUSED), (Verb.RESUME, State.RUNNING), (Verb.CANCEL, State.CANCELLED)),
    *((Verb.FINISH, state) for state in State if state is not State.CANCELLED),  # as none of these is kept open
}


@pytest.mark.parametrize("verb", Verb)
def test_each_reply_says_what_became_of_the_crawl(verb: Verb, golden: SnapshotAssertion) -> None:
    """A state that is none of the verb's own is one that another user gave the crawl a moment ago."""
    done = to_verb(verb, moved=True, crawl_id=UUID(int=7))
    others = {state: to_verb(verb, moved=False, crawl_id=make_crawl(state=state).id) for state in State}
    assert done.is_so
    assert {state for state, reply in others.items() if reply.is_so} == {state for of, state in ALREADY if of == verb}
    assert listed({"done": done.line, **{f"{state}": reply.line for state, reply in others.items()}}) == golden


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
