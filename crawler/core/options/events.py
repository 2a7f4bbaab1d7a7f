"""The events of a crawl that users and programs can be notified of."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from crawler.core.errors import BadInput

PREFIX = "crawl."


class Event(StrEnum):
    """The value is that of notices, webhook headers and crawl options."""

    STARTED = "crawl.started"  # it runs: for the first time, or again because dead letters or traps were retried
    PAGE = "crawl.page"  # pages were requested and have their outcome, many in one notice
    PAUSED = "crawl.paused"  # a user paused it, or a command whose timeout passed
    FINISHED = "crawl.finished"  # no page is open any more
    FAILED = "crawl.failed"  # the same, but no start page gave a usable response
    CANCELLED = "crawl.cancelled"  # a user stopped it
    TEST = "crawl.test"  # a user tests a channel


ENDS = (Event.FINISHED, Event.FAILED, Event.CANCELLED)
"""Exactly one of these ends each round of a crawl."""

DEFAULT_EVENTS = tuple(event.value for event in ENDS)
"""The default events of a receiver."""

OF_A_CRAWL = (Event.STARTED, Event.PAUSED, *ENDS)
"""The events for a channel of an account. Page notices are enabled per crawl."""

OF_PAGES = (*OF_A_CRAWL, Event.PAGE)
"""The events for the receivers of one crawl."""


def chosen_events(field: str, typed: Iterable[str]) -> tuple[str, ...]:
    """The events a user typed, with or without "crawl.", each once; BadInput for an unknown one."""
    named = (name if name.startswith(PREFIX) else PREFIX + name for name in map(str.strip, typed))
    return tuple(dict.fromkeys(_checked(field, name) for name in named))


def _checked(field: str, name: str) -> str:
    if name in OF_PAGES:
        return name
    known = ", ".join(event.removeprefix(PREFIX) for event in OF_PAGES)
    raise BadInput(field, f"Unknown event {name.removeprefix(PREFIX)!r}; choose from {known}.")
