"""The states of a crawl, and what may follow what."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never


class State(StrEnum):
    """Where a crawl is in its life."""

    LOADING = "loading"  # its list is being read into the table; nothing is handed out yet
    RUNNING = "running"  # pages are handed out and results taken in
    PAUSED = "paused"  # results are taken in, nothing new is handed out
    FINISHED = "finished"  # every page has its outcome, and that was announced
    CANCELLED = "cancelled"  # a person stopped it; what was open then is closed as cancelled

    @property
    def is_over(self) -> bool:
        match self:
            case State.FINISHED | State.CANCELLED:
                return True
            case State.LOADING | State.RUNNING | State.PAUSED:
                return False
        assert_never(self)


FOLLOWS: dict[State, frozenset[State]] = {
    State.LOADING: frozenset({State.RUNNING, State.CANCELLED}),
    State.RUNNING: frozenset({State.PAUSED, State.FINISHED, State.CANCELLED}),
    State.PAUSED: frozenset({State.RUNNING, State.CANCELLED}),
    State.FINISHED: frozenset({State.RUNNING}),  # its dead letters were sent again
    State.CANCELLED: frozenset({State.RUNNING}),  # the same
}
"""For each state, the states that may come next."""


def predecessors(state: State) -> tuple[State, ...]:
    """The states from which this one may be entered; what a conditional update asks for."""
    return tuple(earlier for earlier, later in FOLLOWS.items() if state in later)
