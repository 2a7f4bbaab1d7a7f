"""How often a host may be asked, and how much of it is handed out at a time."""

from __future__ import annotations

from dataclasses import dataclass

SLICE_PAGES = 64  # pages of one host handed out at a time when it asks for no delay
SLICE_SECONDS = 5.0  # a slice that keeps a delay should last no longer than this
PATIENCE = 2.5  # seconds a slice waits for its turn at a host before it is handed back
LONGEST_DELAY = 60.0  # seconds; a robots.txt that asks for more gets this
LONGEST_STOP = 3600.0  # seconds a host is left in peace at most, whatever its Retry-After says


@dataclass(frozen=True)
class Pace:
    """How much of a host is handed out."""

    slices: int  # at a time, at most
    pages: int  # in a slice, at most


ONE_BY_ONE = Pace(slices=1, pages=SLICE_PAGES)
"""For a host that has not answered yet: should it be dead, it holds up one slice and no more."""


def chosen_delay(delay: float, per_minute: float | None) -> float:
    """The delay a crawl's options amount to; so many requests a minute are requests evenly spaced."""
    return max(delay, 60.0 / per_minute if per_minute else 0.0)


def host_delay(chosen: float, crawl_delay: float | None) -> float:
    """The delay to keep at a host: the user's, or robots.txt's Crawl-delay when that is longer."""
    return max(chosen, min(crawl_delay or 0.0, LONGEST_DELAY))


def pace_of(delay: float, concurrency: int, *, has_answered: bool = True) -> Pace:
    """What to hand out of a host with this delay, in seconds."""
    return Pace(slices_at_once(delay, concurrency) if has_answered else 1, slice_pages(delay))


def slice_pages(delay: float) -> int:
    """Pages to hand out at a time to a host with this delay, in seconds; one by one when a slice would not wait for
    the second."""
    if delay <= 0:
        return SLICE_PAGES
    if delay > PATIENCE:
        return 1
    return max(1, min(SLICE_PAGES, int(SLICE_SECONDS / delay)))


def slices_at_once(delay: float, concurrency: int) -> int:
    """Slices of one host that may be out at a time. A delay of half a second or more leaves nothing for a second
    connection to do but wait."""
    return 1 if delay >= 0.5 else concurrency
