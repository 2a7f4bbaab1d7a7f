"""What holds a crawl up, in sentences: shortages, holds, and hosts that wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import assert_never

from crawler.core.errors import SealBroken
from crawler.core.installation.backpressure import Shortage
from crawler.core.politeness.host_rules import ConnectionUse, HostWait, WaitReason
from crawler.core.politeness.throttle import Slowdown
from crawler.core.protocol.holds import HoldReason
from crawler.core.text.quantities import count, counted, duration
from crawler.reports.slowdown_text import slowdown_reason

_SHORTAGES = {
    Shortage.REDIS_FULL: ("Redis is full: it has used up its maxmemory", "Raise it, or cancel crawls"),
    Shortage.REDIS_UNSAVED: ("Redis rejects writes: it could not save its data", "Check whether its disk is full"),
    Shortage.REDIS_READ_ONLY: ("Redis rejects writes: it is a read-only replica", "Name the primary in REDIS_URL"),
    Shortage.DATABASE_FULL: ("the disk of the database is full", "Make room on it"),
    Shortage.DATABASE_READ_ONLY: ("the database is read-only", "Make it writable"),
    Shortage.DATABASE_UNWELL: ("the database cannot write to its disk", "Check whether it is full or broken"),
    Shortage.STORAGE_FULL: ("the content storage is full", "Make room where content is stored"),
}


def because(shortage: Shortage) -> str:
    """The reason as the end of a sentence, without a full stop."""
    return _SHORTAGES[shortage][0]


def shortage_text(shortage: Shortage) -> str:
    """The reason only, for users who cannot do anything about it."""
    reason = because(shortage)
    return f"{reason[0].upper()}{reason[1:]}."


def remedy(shortage: Shortage) -> str:
    """What to do about it: a sentence without a full stop."""
    return _SHORTAGES[shortage][1]


def paused_for(shortage: Shortage) -> str:
    return f"It is paused, because {because(shortage)}. {remedy(shortage)}; it then continues."


PAUSED_FOR_ROOM = "It is paused, because storage was full. It continues once there is room."
"""The same where the shortage is not known any more."""


def waits_for(shortage: Shortage) -> str:
    """The text for a crawl whose pause could not be stored."""
    return f"No page is requested, because {because(shortage)}. {remedy(shortage)}; it then continues."


def hold_message(reason: HoldReason, shortage: Shortage | None, ends: str, pause_reason: str = "") -> str:
    """Why a crawl is paused, and when a hold ends ("in 3 h"); "" if a user paused it. `pause_reason`: of its row."""
    match reason:
        case HoldReason.CREDENTIALS:
            return f"It is paused. {SealBroken()}"
        case HoldReason.REFUSED:
            return f"It is paused: {pause_reason}. Resume it to try again."
        case HoldReason.DAILY_QUOTA:
            why = "It is paused, because its owner has reached the limit of pages a day."
            return f"{why} It continues {ends}."
        case HoldReason.CAPACITY:  # without a shortage: it has ended, or Redis does not respond
            return PAUSED_FOR_ROOM if shortage is None else paused_for(shortage)
        case HoldReason.USER:
            return ""
    assert_never(reason)


def wait_text(wait: HostWait) -> str:
    """One sentence: why a crawl waits for this host."""
    host, seconds = wait.host, duration(wait.next_in)
    every = f", one request in {duration(wait.delay)}" if wait.delay > 0 else ""
    waiting = f"It is waiting for {host}"
    again = f"{waiting}, which may be requested again in {seconds}{every}"
    trouble = f" ({wait.trouble})" if wait.trouble else ""
    match wait.reason:
        case WaitReason.STOP:
            return f"{host} {stop_of(wait.status, wait.until)} (in {seconds})."
        case WaitReason.PROBE:
            return f"{host} asked to wait, so one page is being tested first; the rest resume within {seconds}."
        case WaitReason.ROBOTS_ASKED:
            return f"{waiting}, whose robots.txt is being requested."
        case WaitReason.ROBOTS_AGAIN:
            return f"{waiting}, whose robots.txt is requested again in {seconds}{trouble}."
        case WaitReason.ROBOTS:
            return f"{again} (Crawl-delay)."
        case WaitReason.DELAY:
            return f"{again} (the delay chosen for this crawl)."
        case WaitReason.OTHERS:
            return f"{again} (another crawl keeps this delay)."
        case WaitReason.THROTTLE:
            slowdown = Slowdown.of(wait.throttle) if wait.throttle else None
            return f"{again} (slowed down{f': {slowdown_reason(slowdown)}' if slowdown else ''})."
        case WaitReason.RETRY | WaitReason.LATER:
            is_later = wait.reason is WaitReason.LATER
            what = "the next page becomes due" if is_later else "a page that failed is tried again"
            return f"{waiting}, where {what} in {seconds}{trouble}."
        case WaitReason.BUSY:
            in_use = f"{count(wait.connections)} of {counted(wait.allowed, 'connection')} to {host}"
            return f"{in_use} {'is' if wait.connections == 1 else 'are'} in use{_by_whom(wait.used)}."
        case WaitReason.AGAIN:
            return f"{waiting}, which is tried again in {seconds}."
        case WaitReason.NOTHING:
            return f"{host} may be requested now."
    assert_never(wait.reason)


def stop_of(status: int | None, until: float) -> str:
    """ "answered 429 and asked to wait until 14:03:20 UTC"."""
    answered = f"responded with {status} and " if status is not None else ""
    return f"{answered}asked to wait until {datetime.fromtimestamp(until, UTC):%H:%M:%S} UTC"


def _by_whom(used: Sequence[ConnectionUse]) -> str:
    return ": " + ", ".join(f"{count(each.connections)} by {each.by}" for each in used) if used else ""
