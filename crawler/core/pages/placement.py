"""Where a page that a user adds stands in the queue: how urgent it is, when it may be requested, and until when; and
what happened to the pages that a user added or asked for again."""

from __future__ import annotations

import msgspec

from crawler.core.errors import BadInput
from crawler.core.options.kinds import MAX_DAYS
from crawler.core.text.quantities import duration

MAX_URLS = 10_000  # that are added in one transaction
MAX_PRIORITY = 10  # the most urgent
MAX_SECONDS = MAX_DAYS * 86400.0
MAX_REASONS = 10  # of the refused URLs of a call


class Placement(msgspec.Struct, frozen=True):
    """None = not named: a new page has the usual priority, may be requested at once, and has the crawl's time to live;
    one that waits already stays where it is."""

    priority: int | None = None  # 0 = last, 10 = first
    not_before: float | None = None  # epoch seconds
    ttl: float | None = None  # seconds from the time at which it may be requested

    @property
    def is_given(self) -> bool:
        return self != Placement()


def placed(
    priority: int | None, delay: float | None, not_before: float | None, ttl: float | None, now: float
) -> Placement:
    """The place of pages that are added at `now`. `delay` and `ttl` are in seconds, `not_before` and `now` in epoch
    seconds. BadInput if they cannot be used."""
    if priority is not None and not 0 <= priority <= MAX_PRIORITY:
        raise BadInput("priority", f"The priority must be between 0 (last) and {MAX_PRIORITY} (first), not {priority}.")
    if delay is not None and not_before is not None:
        raise BadInput("not_before", "Enter a delay or a time before which the pages are not requested, not both.")
    if delay is not None and not 0 <= delay <= MAX_SECONDS:
        raise BadInput("delay", f"The delay must be between 0 seconds and {MAX_DAYS} days, not {delay:,.10g} s.")
    if not_before is not None and not_before > now + MAX_SECONDS:
        raise BadInput("not_before", f"The time must be within {MAX_DAYS} days, not {duration(not_before - now)} away.")
    if ttl is not None and not 0 < ttl <= MAX_SECONDS:
        raise BadInput("ttl", f"The time to live must be more than 0 seconds and at most {MAX_DAYS} days.")
    if delay is not None:
        not_before = now + delay
    return Placement(priority, None if not_before is None else max(not_before, now), ttl)


class Refused(msgspec.Struct, frozen=True):
    """A URL that was not added."""

    url: str  # as it was given
    why: str  # one line


class Added(msgspec.Struct, frozen=True):
    """What happened to the URLs of a call; each is counted once."""

    added: int = 0  # new pages
    moved: int = 0  # open pages with another time or priority
    waiting: int = 0  # open pages that stay where they are: the call named neither
    again: int = 0  # closed pages that are open again
    closed: int = 0  # pages that have their outcome, and keep it
    refused: int = 0
    reasons: tuple[Refused, ...] = ()  # the first of the refused
    has_reopened: bool = False  # the crawl was over, and runs again

    def plus(self, other: Added) -> Added:
        """The same with another part of the URLs."""
        return Added(
            self.added + other.added,
            self.moved + other.moved,
            self.waiting + other.waiting,
            self.again + other.again,
            self.closed + other.closed,
            self.refused + other.refused,
            (self.reasons + other.reasons)[:MAX_REASONS],
            self.has_reopened or other.has_reopened,
        )


class AskedAgain(msgspec.Struct, frozen=True):
    """What happened to the pages of a call."""

    again: int = 0  # that were closed and are open
    left: int = 0  # open pages, pages of traps, and recorded links to other sites
    has_reopened: bool = False
