"""What may follow what."""

from crawler.core.protocol.completion import FOLLOWS, State, predecessors


def test_every_state_has_its_successors() -> None:
    assert set(FOLLOWS) == set(State)


def test_a_crawl_that_is_over_can_only_be_opened_again() -> None:
    over = {state: follows for state, follows in FOLLOWS.items() if state.is_over}
    assert over == {State.FINISHED: {State.RUNNING}, State.CANCELLED: {State.RUNNING}}


def test_only_a_running_crawl_finishes() -> None:
    assert predecessors(State.FINISHED) == (State.RUNNING,)


def test_a_crawl_that_is_not_over_can_be_cancelled() -> None:
    assert set(predecessors(State.CANCELLED)) == {State.LOADING, State.RUNNING, State.PAUSED}
