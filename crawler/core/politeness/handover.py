"""How soon a fetch job hands over its results and looks for more work: at once where slow hosts leave it idle."""

from __future__ import annotations

import math

from crawler.core.politeness.host_rules import SLOW_RESPONSE_S

PROMPT_S = 0.01  # in which results that belong together arrive, and in which a free worker takes a job first
MUCH_IDLE = 0.25  # of the time of a job
PROMPT_SLICES = 64  # at work, beyond which a job is never hungry
ENDS_SOON_S = 0.2  # a slice with pages for no longer is about to end


def is_slow(seconds: float, idle: float) -> bool:
    """Whether a job waits for its hosts, which respond after so many seconds. `idle`: the part of its time in which it
    did nothing; else they may only seem slow, because it is busy with other responses."""
    return seconds >= SLOW_RESPONSE_S and idle >= MUCH_IDLE


def last_pages(seconds: float) -> int:
    """With so many pages left, a slice of a host that responds after so many seconds is about to end."""
    return max(1, int(ENDS_SOON_S / seconds)) if seconds else 1


def may_be_hungry(seconds: float, idle: float, working: int) -> bool:
    """Whether a job waits for its hosts, see `is_slow`, with so many slices that each counts.

    A tick costs as much as ten pages. So fast hosts, which keep the CPU busy, get as few ticks as possible; and so do
    more slices than one host may have, since while some of them end many others are worked on.
    """
    return is_slow(seconds, idle) and 0 < working <= PROMPT_SLICES


def is_hungry(ending: int, waiting: int) -> bool:
    """Whether such a job is about to have idle connections: more of its slices are about to end, or have and are not
    reported, than wait to follow them."""
    return waiting == 0 or ending > waiting


def report_wait(seconds: float, waiting: int, *, has_ended: bool) -> float:
    """Seconds between two reports of a hungry job with so many slices waiting. If a slice has ended, its connection is
    idle, or soon will be. Else only links are reported, once all connections have had a response, if nothing waits."""
    if has_ended:
        return max(PROMPT_S, seconds / 4)
    return math.inf if waiting else seconds
