"""What a user is told who asked for an action."""

from uuid import UUID

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.errors import NoCrawl
from crawler.core.protocol.completion import State
from crawler.crawls.actions import ACTIONS, CANCEL, FINISH, PAUSE, RESUME, Action, reply_to
from tests.factories import make_crawl
from tests.text_files import listed

pytestmark = pytest.mark.django_db

ALREADY = [
    *((PAUSE, State.PAUSED), (RESUME, State.RUNNING), (CANCEL, State.CANCELLED)),
    *((FINISH, state) for state in State if state is not State.CANCELLED),  # as none of these is kept open
]


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_each_reply_says_what_became_of_the_crawl(action: Action, golden: SnapshotAssertion) -> None:
    """A state that is none of the action's own is one that another user gave the crawl a moment ago."""
    done = reply_to(action, moved=True, crawl_id=UUID(int=7))
    others = {state: reply_to(action, moved=False, crawl_id=make_crawl(state=state).id) for state in State}
    assert done.is_so
    assert {state for state, reply in others.items() if reply.is_so} == {state for of, state in ALREADY if of is action}
    assert listed({"done": done.line, **{f"{state}": reply.line for state, reply in others.items()}}) == golden


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_a_crawl_that_was_deleted_meanwhile_is_gone(action: Action) -> None:
    with pytest.raises(NoCrawl):
        reply_to(action, moved=False, crawl_id=UUID(int=7))
