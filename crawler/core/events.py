"""What can happen to a crawl that somebody may want to be told of."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from crawler.core.errors import BadInput

PREFIX = "crawl."


class Event(StrEnum):
    """The value is what a notice, a webhook's header and the options of a crawl say."""

    STARTED = "crawl.started"  # it runs: for the first time, or again because dead letters or traps opened it
    PAGE = "crawl.page"  # pages were asked for and have their outcome, many in one notice
    PAUSED = "crawl.paused"  # a person, or a command that could wait no longer, paused it
    FINISHED = "crawl.finished"  # no page is open any more
    FAILED = "crawl.failed"  # the same, but no start page answered well, so it could not do what was asked
    CANCELLED = "crawl.cancelled"  # a person stopped it
    TEST = "crawl.test"  # nothing happened: somebody pressed the button that tries a channel


ENDS = (Event.FINISHED, Event.FAILED, Event.CANCELLED)
"""Exactly one of these ends each round of a crawl."""

USUAL = tuple(event.value for event in ENDS)
"""What people are told of unless they choose otherwise."""

OF_A_CRAWL = (Event.STARTED, Event.PAUSED, *ENDS)
"""What a channel of an account may be told of. Pages have to be asked for crawl by crawl."""

OF_PAGES = (*OF_A_CRAWL, Event.PAGE)
"""What the receivers of one crawl may be told of."""


def chosen_events(field: str, typed: Iterable[str]) -> tuple[str, ...]:
    """The events that were typed, with or without "crawl.", each once; BadInput for one that there is not."""
    named = (name if name.startswith(PREFIX) else PREFIX + name for name in map(str.strip, typed))
    return tuple(dict.fromkeys(_checked(field, name) for name in named))


def _checked(field: str, name: str) -> str:
    if name in OF_PAGES:
        return name
    known = ", ".join(event.removeprefix(PREFIX) for event in OF_PAGES)
    raise BadInput(field, f"Nobody can be told of {name.removeprefix(PREFIX)!r}; choose among {known}.")
