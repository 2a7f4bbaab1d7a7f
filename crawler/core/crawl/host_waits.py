"""Why a host with pages that wait is not asked now: one cause out of all that may hold it up, and a sentence for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import assert_never

from crawler.core.robots.robots_txt import NOT_HAD
from crawler.core.text.quantities import count, counted, duration


class Reason(StrEnum):
    """Why a host is not asked now."""

    STOP = "stop"  # the server asked for no request before a moment (Retry-After)
    PROBE = "probe"  # that moment has passed, and one page is tried first; the others wait for its answer
    ROBOTS_ASKED = "robots_asked"  # its robots.txt is being asked for
    ROBOTS_AGAIN = "robots_again"  # its robots.txt could not be had, and is asked for again later
    ROBOTS = "robots"  # its robots.txt asks for a Crawl-delay
    DELAY = "delay"  # the user who started the crawl asked for a delay
    OTHERS = "others"  # another crawl keeps a longer delay, which counts for all of them
    THROTTLE = "throttle"  # it is slow or in trouble
    RETRY = "retry"  # its next page failed before, and is tried again later
    BUSY = "busy"  # as many connections are in use as may be
    AGAIN = "again"  # it was put off, and what it was put off for is gone by now
    NOTHING = "nothing"  # it may be asked now


ENDED_BY_A_USER = frozenset(
    {Reason.STOP, Reason.PROBE, Reason.THROTTLE, Reason.RETRY, Reason.ROBOTS_AGAIN, Reason.AGAIN}
)
"""Waits that a user in a hurry may end. A Crawl-delay or a chosen delay is kept: it is how the host is to be asked."""

SLACK = 1.0  # seconds by which a wait may be longer than the delay it is for

HOLD_UP_A_WORKER = frozenset({Reason.STOP, Reason.PROBE, Reason.ROBOTS_ASKED, Reason.BUSY})
"""For these a slice waits that a worker has in hand. A delay that it waits for is part of its work."""


@dataclass(frozen=True)
class HostLook:
    """What can be seen of a host with pages of one crawl. Every `..._in` is in seconds from now; 0 or less = passed."""

    rest_in: float = 0.0  # until this crawl hands out pages of it again
    due_in: float = 0.0  # until its first page is due
    stop_in: float = 0.0  # until the moment before which the server wants no request
    probe_in: float = 0.0  # until the answer of the page that is tried is not waited for any more
    asked_ago: float | None = None  # seconds since the last request to it, of any crawl; None = not known
    chosen: float = 0.0  # the delay chosen for this crawl, in seconds, as all of these
    crawl_delay: float = 0.0  # by its robots.txt, where the crawl obeys that
    throttle: float = 0.0  # by the automatic throttle, where the crawl uses that
    others: float = 0.0  # the longest delay that other crawls of it keep
    connections: int = 0  # in use, over all crawls
    allowed: int = 1  # connections at a time
    robots_asked: bool = False  # its robots.txt is being asked for
    trouble: str = ""  # what happened to its first page the last time

    @property
    def delay(self) -> float:
        """Seconds between two requests: the longest of the delays counts."""
        return max(self.chosen, self.crawl_delay, self.throttle, self.others)

    @property
    def is_full(self) -> bool:
        return self.connections >= self.allowed


def what_holds(look: HostLook) -> tuple[float, Reason]:
    """Seconds until a host may be asked, and why not sooner.

    1. What the server itself asked for comes before anything else.
    2. Then the wait that takes longest: for a page that failed, for the answer of a page that is tried.
    3. Then what may end at any moment: a robots.txt that is being asked for, connections that are in use.
    4. Then the delay that counts.
    """
    if look.stop_in > 0:
        return look.stop_in, Reason.STOP
    turn_in = look.delay - look.asked_ago if look.asked_ago is not None and look.delay > 0 else 0.0
    longest = max(0.0, look.rest_in, look.due_in, look.probe_in, turn_in)
    if 0 < look.due_in == longest:
        return longest, Reason.ROBOTS_AGAIN if look.trouble.startswith(NOT_HAD) else Reason.RETRY
    if look.probe_in > 0:
        return longest, Reason.PROBE
    if look.robots_asked:
        return longest, Reason.ROBOTS_ASKED
    if look.is_full and longest > max(0.0, turn_in):
        return longest, Reason.BUSY
    if longest <= 0:
        return 0.0, Reason.BUSY if look.is_full else Reason.NOTHING
    is_its_delay = look.delay > 0 and longest <= look.delay + SLACK
    return longest, _reason_of_delay(look) if is_its_delay else Reason.AGAIN


def _reason_of_delay(look: HostLook) -> Reason:
    """Of delays of the same length the one that is nearest to the user."""
    delays = [
        (look.chosen, Reason.DELAY),
        (look.crawl_delay, Reason.ROBOTS),
        (look.throttle, Reason.THROTTLE),
        (look.others, Reason.OTHERS),
    ]
    return max(delays, key=lambda delay: delay[0])[1]


@dataclass(frozen=True)
class Used:
    """The connections to a host that one crawl uses, or several whose names are not told."""

    by: str  # "this crawl", "crawl ID (site)", "another crawl"
    connections: int
    crawl: str | None = None  # id; None = not told


@dataclass(frozen=True)
class HostWait:
    """A host with pages that wait."""

    host: str
    pages: int
    next_in: float  # seconds until it may be asked; 0 = now
    reason: Reason
    trouble: str = ""  # with RETRY and ROBOTS_AGAIN: what happened the last time
    delay: float = 0.0  # seconds between two requests
    until: float = 0.0  # with STOP: epoch seconds
    status: int | None = None  # with STOP: the HTTP status by which it was asked for; None = not known
    used: Sequence[Used] = ()
    allowed: int = 0  # connections at a time

    @property
    def connections(self) -> int:
        """In use."""
        return sum(used.connections for used in self.used)


def why_not_now(wait: HostWait) -> str:
    """One sentence: what a crawl waits for at this host."""
    host, seconds = wait.host, duration(wait.next_in)
    every = f", one request in {duration(wait.delay)}" if wait.delay > 0 else ""
    waiting = f"It is waiting for {host}"
    again = f"{waiting}, which may be asked again in {seconds}{every}"
    trouble = f" ({wait.trouble})" if wait.trouble else ""
    match wait.reason:
        case Reason.STOP:
            return f"{host} {stop_of(wait.status, wait.until)} (in {seconds})."
        case Reason.PROBE:
            rest = f"the others wait for its answer, {seconds} at most"
            return f"{host} asked to wait, so one page of it is tried first: {rest}."
        case Reason.ROBOTS_ASKED:
            return f"{waiting}, whose robots.txt is being asked for."
        case Reason.ROBOTS_AGAIN:
            return f"{waiting}, whose robots.txt is asked for again in {seconds}{trouble}."
        case Reason.ROBOTS:
            return f"{again} (Crawl-delay)."
        case Reason.DELAY:
            return f"{again} (the delay chosen for this crawl)."
        case Reason.OTHERS:
            return f"{again} (another crawl keeps this delay)."
        case Reason.THROTTLE:
            return f"{again} (slowed down, because it is slow or in trouble)."
        case Reason.RETRY:
            return f"{waiting}, where a page that failed is tried again in {seconds}{trouble}."
        case Reason.BUSY:
            in_use = f"{count(wait.connections)} of {counted(wait.allowed, 'connection')} to {host}"
            return f"{in_use} {'is' if wait.connections == 1 else 'are'} in use{_by_whom(wait.used)}."
        case Reason.AGAIN:
            return f"{waiting}, which is tried again in {seconds}."
        case Reason.NOTHING:
            return f"{host} may be asked now."
    assert_never(wait.reason)


def stop_of(status: int | None, until: float) -> str:
    """ "answered 429 and asked to wait until 14:03:20 UTC"."""
    answered = f"answered {status} and " if status is not None else ""
    return f"{answered}asked to wait until {datetime.fromtimestamp(until, UTC):%H:%M:%S} UTC"


def _by_whom(used: Sequence[Used]) -> str:
    return ": " + ", ".join(f"{count(each.connections)} by {each.by}" for each in used) if used else ""
