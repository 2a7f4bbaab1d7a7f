"""What a user is told who asked to pause, resume, cancel, delete or retry, or not to wait for a host: the same words on
page and terminal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from crawler import clock
from crawler.core.crawl.completion import State
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.diagnosis_facts import held_because


class Verb(StrEnum):
    """What can be asked of a crawl's state."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


@dataclass(frozen=True)
class Reply:
    """An answer for a person."""

    line: str  # one sentence or two
    is_so: bool  # whether things are now as they were asked to be, by this call or before it


_TARGET = {Verb.PAUSE: State.PAUSED, Verb.RESUME: State.RUNNING, Verb.CANCEL: State.CANCELLED}

_DONE = {
    Verb.PAUSE: "Paused. What is on its way is still taken in; nothing new is asked for.",
    Verb.RESUME: "Resumed. It goes on where it stopped.",
    Verb.CANCEL: "Cancelled. Pages that were still open are not asked for any more.",
}

_STANDS = {
    State.LOADING: "Its list is still being read",
    State.RUNNING: "It is running",
    State.PAUSED: "It is paused",
    State.FINISHED: "It is finished",
    State.CANCELLED: "It was cancelled",
}

GONE = Reply("It was deleted; there is no such crawl any more.", is_so=False)


def to_verb(verb: Verb, moved: bool, crawl_id: UUID) -> Reply:
    """The answer to pause, resume or cancel; `moved` is what the engine's verb returned."""
    if moved:
        return Reply(_DONE[verb], is_so=True)
    state = _state_of(crawl_id)
    if state is None:
        return GONE
    if verb is Verb.RESUME and (why := _held(crawl_id)):
        return Reply(why, is_so=False)
    if state is _TARGET[verb]:
        return Reply(f"{_STANDS[state]} already.", is_so=True)
    if state.is_over:
        return Reply(f"{_STANDS[state]}; there is nothing to {verb}.", is_so=False)
    return Reply(f"{_STANDS[state]}: somebody else moved it at the same moment. Try again.", is_so=False)


def to_delete(crawl: Crawl, deleted: bool) -> Reply:
    """The answer to delete; `crawl` as it was before."""
    if not deleted:
        return Reply("It was deleted already.", is_so=True)
    pages = text.counted(crawl.discovered, "page")
    return Reply(f"Deleted: the crawl of {crawl.site} with its {pages}.", is_so=True)


def to_retry(sent: int) -> Reply:
    """The answer to a retry that sent so many dead letters again."""
    if sent:
        return Reply(f"Sent again: {text.counted(sent, 'page')}.", is_so=True)
    return Reply("There is nothing to send again.", is_so=True)


def to_forget(host: str, *, had_to_wait: bool, crawls: int) -> Reply:
    """The answer to a user who wants a host to be asked at once."""
    if not had_to_wait:
        return Reply(f"{host} has no wait that can be ended.", is_so=True)
    goes_on = f"{text.counted(crawls, 'crawl')} with pages of it {'goes' if crawls == 1 else 'go'} on"
    return Reply(f"The wait for {host} is ended{f': {goes_on}' if crawls else ''}.", is_so=True)


def no_pages_of(host: str) -> Reply:
    """The answer where a crawl has nothing to do with that host, or not any more."""
    return Reply(f"This crawl does not wait for {host}.", is_so=False)


def _state_of(crawl_id: UUID) -> State | None:
    """The state as the table has it now; None when the crawl is gone."""
    value = Crawl.objects.filter(pk=crawl_id).values_list("state", flat=True).first()
    return None if value is None else State(value)


def _held(crawl_id: UUID) -> str:
    """Why the crawl is held; "" when it is not."""
    crawl = Crawl.objects.filter(pk=crawl_id, state=State.PAUSED).first()
    return held_because(crawl, clock.epoch_seconds()) if crawl is not None else ""
