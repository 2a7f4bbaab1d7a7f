"""How often a host may be asked, and how much of it is handed out at a time."""

from __future__ import annotations

from dataclasses import dataclass

SLICE_PAGES = 64  # pages of one host handed out at a time, as long as it is not known how fast it answers
MOST_PAGES = 256  # the same of a fast one
SLICE_SECONDS = 5.0  # a slice should last so long: ten times as long as it takes to hand out the next one
DELAYED_SECONDS = 15.0  # the same where most of the time is a delay, in which the worker does other things
AHEAD = 2  # slices handed out for each connection to a host that asks for no delay
PATIENCE = 2.5  # seconds a slice waits for its turn at a host before it is handed back
LONGEST_DELAY = 60.0  # seconds; a robots.txt that asks for more gets this
SILENT_TIMES, SILENT_SECONDS = 3, 5.0  # of silence after which a host that never answered is given up
LOST_TIMES, LOST_SECONDS = 10, 60.0  # of silence after which a host that answered before is given up


@dataclass(frozen=True)
class Pace:
    """How much of a host is handed out."""

    slices: int  # at a time, at most
    pages: int  # in a slice, at most


ONE_BY_ONE = Pace(slices=1, pages=SLICE_PAGES)
"""For a host that has not answered yet: should it be dead, it holds up one slice and no more."""


def is_hopeless(times: int, seconds: float, *, has_answered: bool) -> bool:
    """Whether a host that did not answer `times` in a row, over so many seconds, is not asked again in this crawl. One
    that never answered is more likely to be gone for good than one that did a while ago."""
    if has_answered:
        return times >= LOST_TIMES and seconds >= LOST_SECONDS
    return times >= SILENT_TIMES and seconds >= SILENT_SECONDS


def chosen_delay(delay: float, per_minute: float | None) -> float:
    """The delay a crawl's options amount to; so many requests a minute are requests evenly spaced."""
    return max(delay, 60.0 / per_minute if per_minute else 0.0)


def host_delay(chosen: float, crawl_delay: float | None) -> float:
    """The delay to keep at a host: the user's, or robots.txt's Crawl-delay when that is longer."""
    return max(chosen, min(crawl_delay or 0.0, LONGEST_DELAY))


def pace_of(delay: float, concurrency: int, seconds: float | None = None, *, has_answered: bool = True) -> Pace:
    """What to hand out of a host with this delay, in seconds, that takes so many `seconds` for an answer."""
    if not has_answered:
        return ONE_BY_ONE  # should it be dead, one request tells so for all pages of a slice
    return Pace(slices_at_once(delay, concurrency), slice_pages(delay, seconds))


def slice_pages(delay: float, seconds: float | None = None) -> int:
    """Pages to hand out at a time to a host with this delay, in seconds, that takes so many `seconds` for an answer
    (None = not known yet). One by one when a slice would not wait for the second."""
    if delay > PATIENCE:
        return 1
    if delay <= 0 and seconds is None:
        return SLICE_PAGES
    aim, most = (DELAYED_SECONDS, SLICE_PAGES) if delay > 0 else (SLICE_SECONDS, MOST_PAGES)
    return max(1, int(min(most, aim / max(delay, seconds or 0.0, 0.001))))


def slices_at_once(delay: float, concurrency: int) -> int:
    """Slices of one host that may be out at a time.

    Without a delay twice as many as it has connections: while some are worked on the others wait in RQ's queue, and a
    worker that is done goes on without a tick in between. A delay of half a second or more leaves nothing for a second
    connection to do but wait.
    """
    if delay <= 0:
        return AHEAD * concurrency
    return 1 if delay >= 0.5 else concurrency
