"""How soon a fetch job hands over its results and looks for more work: at once where slow hosts leave it idle."""

from __future__ import annotations

import math

from crawler.core.politeness.host_rules import SLOW_RESPONSE_S

PROMPT_S = 0.01  # in which results that belong together arrive, and in which a free worker takes a job first
MUCH_IDLE = 0.25  # of the time of a job
PROMPT_SLICES = 64  # at work, beyond which a job is never hungry


def is_slow(seconds: float, idle: float) -> bool:
    """Whether a job waits for its hosts, which respond after so many seconds. `idle`: the part of its time in which it
    did nothing; else they may only seem slow, because it is busy with other responses."""
    return seconds >= SLOW_RESPONSE_S and idle >= MUCH_IDLE


def is_hungry(seconds: float, idle: float, working: int, waiting: int) -> bool:
    """Whether a job that waits for its hosts, see `is_slow`, is about to have idle connections: so many of its slices
    are worked on, and fewer than half as many wait to follow them.

    A tick costs as much as ten pages. So fast hosts, which keep the CPU busy, get as few ticks as possible; and so do
    more slices than one host may have, since while some of them end many others are worked on.
    """
    return is_slow(seconds, idle) and 2 * waiting < working <= PROMPT_SLICES


def report_wait(seconds: float, waiting: int, *, has_ended: bool) -> float:
    """Seconds between two reports of a hungry job with so many slices waiting. If a slice has ended, its connection is
    idle, or soon will be. Else only links are reported, once all connections have had a response, if nothing waits."""
    if has_ended:
        return max(PROMPT_S, seconds / 4)
    return math.inf if waiting else seconds
