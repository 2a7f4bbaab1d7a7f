"""What a user can do with the state of a crawl, each once: its button, its operation in the API and its command are
made of it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import msgspec

from crawler import clock
from crawler.core.access.permissions import Right, Scope
from crawler.core.errors import NoCrawl
from crawler.core.protocol.completion import State
from crawler.crawls import control
from crawler.models import Crawl
from crawler.reports.diagnosis_facts import held_because
from crawler.reports.text import Reply


class Action(msgspec.Struct, frozen=True):
    """One action. `name` is that of the command, of the operation and in addresses."""

    name: str
    run: Callable[[UUID], bool]  # True if this call changed the crawl
    target: State  # what it leads to, at once or later
    summary: str
    about: str  # in the API
    done: str  # the message when the action changed the crawl
    reached: str  # exit code 0 of the command
    refused: str  # exit code 1
    needs_worker: bool = False  # before anything happens
    right: Right = Right.CONTROL
    scope: Scope = Scope.CRAWLS_WRITE


PAUSE = Action(
    "pause",
    control.pause,
    State.PAUSED,
    "Pause a crawl",
    "No more pages are requested. Results in progress are still stored.",
    "Paused. Dispatched pages are still processed; no more pages are requested.",
    "it is paused, or already was",
    "it cannot be paused because it is over, or a service is down",
)
RESUME = Action(
    "resume",
    control.resume,
    State.RUNNING,
    "Resume a crawl",
    "Continue a paused crawl.",
    "Resumed. It continues where it stopped.",
    "it is running, or already was",
    "it cannot be resumed because it is over, or a service is down",
    needs_worker=True,
)
CANCEL = Action(
    "cancel",
    control.cancel,
    State.CANCELLED,
    "Cancel a crawl",
    "Stop it. Open pages are closed as cancelled; fetched pages are kept.",
    "Cancelled. Open pages will no longer be requested.",
    "it is cancelled, or already was",
    "it is finished and cannot be cancelled, or a service is down",
)
FINISH = Action(
    "finish",
    control.finish,
    State.FINISHED,
    "Finish a crawl that is kept open",
    "Stop waiting for new pages. The crawl finishes as usual once all open pages are done.",
    "The crawl will finish once all open pages are done.",
    "it is finished, or will be once all open pages are done",
    "it was cancelled, or a service is down",
    needs_worker=True,
)
ACTIONS = {action.name: action for action in (PAUSE, RESUME, CANCEL, FINISH)}

_STANDS = {
    State.LOADING: "Its list is still being read",
    State.RUNNING: "It is running",
    State.PAUSED: "It is paused",
    State.FINISHED: "It is finished",
    State.CANCELLED: "It was cancelled",
}


def reply_to(action: Action, moved: bool, crawl_id: UUID) -> Reply:
    """The reply to a user; `moved`: what `run` returned. Raises NoCrawl."""
    if moved:
        return Reply(action.done, is_so=True)
    crawl = Crawl.objects.filter(pk=crawl_id).first()
    if crawl is None:
        raise NoCrawl
    state = State(crawl.state)
    if action is RESUME and state is State.PAUSED and (why := held_because(crawl, clock.epoch_seconds())):
        return Reply(why, is_so=False)
    if state is action.target:
        return Reply(f"{_STANDS[state]} already.", is_so=True)
    if state.is_over:
        return Reply(f"{_STANDS[state]}; there is nothing to {action.name}.", is_so=False)
    if action is FINISH:
        return Reply("It is not kept open: it finishes automatically once all open pages are done.", is_so=True)
    return Reply(f"{_STANDS[state]}: another user changed its state at the same time. Try again.", is_so=False)
