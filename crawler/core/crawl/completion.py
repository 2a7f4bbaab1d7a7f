"""The states of a crawl, and what may follow what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from crawler.core.crawl.counters import Tallies
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import LIMITED, USABLE, Category
from crawler.core.crawl.retries import TRANSIENT_STATUSES
from crawler.core.sitemaps.formats import MAX_STEPS
from crawler.core.text.quantities import counted, duration, size


class State(StrEnum):
    """Where a crawl is in its life."""

    LOADING = "loading"  # its list is being read into the table; nothing is handed out yet
    RUNNING = "running"  # pages are handed out and results taken in
    PAUSED = "paused"  # results are taken in, nothing new is handed out
    FINISHED = "finished"  # every page has its outcome, and that was announced
    CANCELLED = "cancelled"  # a person stopped it; what was open then is closed as cancelled

    @property
    def is_over(self) -> bool:
        match self:
            case State.FINISHED | State.CANCELLED:
                return True
            case State.LOADING | State.RUNNING | State.PAUSED:
                return False
        assert_never(self)


FOLLOWS: dict[State, frozenset[State]] = {
    State.LOADING: frozenset({State.RUNNING, State.CANCELLED}),
    State.RUNNING: frozenset({State.PAUSED, State.FINISHED, State.CANCELLED}),
    State.PAUSED: frozenset({State.RUNNING, State.CANCELLED}),
    State.FINISHED: frozenset({State.RUNNING}),  # its dead letters were sent again
    State.CANCELLED: frozenset({State.RUNNING}),  # the same
}
"""For each state, the states that may come next."""


def predecessors(state: State) -> tuple[State, ...]:
    """The states from which this one may be entered; what a conditional update asks for."""
    return tuple(earlier for earlier, later in FOLLOWS.items() if state in later)


# When a crawl is finished: two independent checks, and what follows from what they say.

EVERY = 4.0  # seconds between two looks at the crawls while nothing is due, of all processes together
LEAST, LONGEST = 0.05, 5.0  # seconds between them in any case
SHARE, SHARE_WHEN_DUE = 20, 4  # a look is followed by a rest so many times as long


@dataclass(frozen=True)
class QueueSide:
    """What Redis knows of a crawl at one moment."""

    results: int  # reports left by fetch jobs and not yet taken in
    leases: int  # batches handed out and not yet settled
    hosts: int  # hosts with pages waiting in the frontier
    dirty: bool  # somebody asked for a tick after this one began

    @property
    def is_empty(self) -> bool:
        return not (self.results or self.leases or self.hosts or self.dirty)

    @property
    def only_waits(self) -> bool:
        """Whether there is nothing but pages waiting for their time."""
        return bool(self.hosts) and not (self.results or self.leases or self.dirty)


class Verdict(StrEnum):
    """What the two checks say together."""

    GO_ON = "go_on"  # the queue side holds work; the table is not asked
    FINISH = "finish"  # nothing is queued and no page is open
    DISAGREE = "disagree"  # nothing is queued, yet the table has open pages: rebuild the frontier from it


def verdict(queue_side: QueueSide, *, open_pages: bool) -> Verdict:
    if not queue_side.is_empty:
        return Verdict.GO_ON
    return Verdict.DISAGREE if open_pages else Verdict.FINISH


@dataclass(frozen=True)
class Signs:
    """The signs of life of a running crawl, as anyone passing by can see them."""

    locked: bool  # a tick is at work
    tick_coming: bool  # a tick is on its way
    results: int
    leases: int
    overdue_leases: int  # leases that somebody should look at now
    next_due: float | None  # epoch seconds when a host of the frontier may be asked next; None = no host waits
    next_expiry: float | None = None  # epoch seconds when an open page's time is over; None = never
    closing_at: float | None = None  # epoch seconds when pages close that their servers put off; None = others are open
    paused: bool = False  # nothing new may be handed out
    rewound: bool = False  # the table is to flow into the frontier from its beginning
    next_loss: float | None = None  # epoch seconds when a lease, a lock or a mark runs out unless it is renewed

    def next_moment(self, now: float) -> float | None:
        """Epoch seconds when somebody should look again; None = nothing has a time. What was due before now is seen to
        by whoever holds the lock, or by the tick that comes."""
        times = [self.next_loss]
        if not self.paused:
            times += [self.next_due, self.next_expiry, self.closing_at]
        return min((at for at in times if at is not None and at > now), default=None)


def rest_after(look: float, next_in: float | None) -> float:
    """Seconds for which nobody looks at the crawls again after a look that took `look` seconds: until something is due
    (`next_in`, in seconds; None = nothing has a time), but not longer than is good while Redis may lose what it knew,
    and long enough that looks take a small part of one core, however many workers are idle."""
    usual = max(EVERY, look * SHARE)
    soon = usual if next_in is None else max(next_in, look * SHARE_WHEN_DUE, LEAST)
    return min(usual, soon, LONGEST)


def needs_tick(signs: Signs, now: float) -> bool:
    """Whether a passer-by should wake the manager: there is something to do, and nobody is about to do it."""
    if signs.locked or signs.tick_coming:
        return False
    if signs.results or signs.overdue_leases:
        return True
    if signs.paused:
        return False
    if signs.rewound:
        return True
    if signs.next_expiry is not None and signs.next_expiry <= now:
        return True
    if signs.closing_at is not None and signs.closing_at <= now and not signs.leases:
        return True
    if signs.next_due is not None:
        return signs.next_due <= now
    return signs.leases == 0  # nothing is out and nothing waits: finished, or forgotten by Redis


# Why a crawl ended: complete or not, and which limits kept pages from being asked for.


class Ended(StrEnum):
    """Why a crawl ended. Where several are true, the first of CANCELLED, DEADLINE, LIMIT is said."""

    COMPLETE = "complete"  # every page that may be asked for was, and all of them answered
    COMPLETE_WITH_ERRORS = "complete_with_errors"  # the same, and some gave no usable answer
    LIMIT = "limit"  # pages were not asked for because of a limit other than the deadline
    DEADLINE = "deadline"  # pages were not asked for because the time for the crawl was over
    CANCELLED = "cancelled"  # a user ended it, or pages were never asked for because a user had


class Limit(StrEnum):
    """What closes pages with the outcome `limit` or `expired`."""

    PAGES = "pages"  # max_pages
    BYTES = "bytes"  # max_bytes
    DEPTH = "depth"  # max_depth
    SITEMAPS = "sitemaps"  # a sitemap behind more than MAX_STEPS others
    PAGE_TTL = "page_ttl"  # the time for one page
    DEADLINE = "deadline"  # the time for the crawl


def limit_of_time(options: CrawlOptions, round_began_at: float, now: float) -> Limit:
    """Which limit it is that pages expire by at `now` (epoch seconds, as `round_began_at`)."""
    if options.page_ttl is None:
        return Limit.DEADLINE
    if options.deadline is None or now < round_began_at + options.deadline:
        return Limit.PAGE_TTL
    return Limit.DEADLINE


def ended(state: State, tallies: Tallies, limits: Mapping[str, int]) -> Ended | None:
    """Why a crawl in this state ended; None while it is not over. `limits`: Limit -> pages it closed.

    Pages that robots.txt or a trap kept out do not make a crawl incomplete.
    """
    if not state.is_over:
        return None
    if state is State.CANCELLED or tallies.in_category(Category.CANCELLED):
        return Ended.CANCELLED
    if limits.get(Limit.DEADLINE, 0) > 0:
        return Ended.DEADLINE
    if tallies.number_of(LIMITED):
        return Ended.LIMIT
    if without_answer(tallies) or not tallies.number_of(USABLE):
        return Ended.COMPLETE_WITH_ERRORS
    return Ended.COMPLETE


def without_answer(tallies: Tallies) -> int:
    """Pages that were asked for and gave no usable answer: they failed, or another try might give a better one
    (5xx, 408, 425, 429). A 404 is an answer."""
    refused = sum(number for status, number in tallies.statuses.items() if int(status) in TRANSIENT_STATUSES)
    return tallies.in_category(Category.FAILED) + refused


def sentence(why: Ended, tallies: Tallies, limits: Mapping[str, int], options: CrawlOptions) -> str:
    """The same for people."""
    match why:
        case Ended.COMPLETE:
            return "Complete: every page has its outcome."
        case Ended.COMPLETE_WITH_ERRORS:
            return f"Complete, but {_errors(tallies) or 'no page was fetched successfully.'}"
        case Ended.CANCELLED:
            parts = [
                f"Cancelled: {_not_asked(tallies.in_category(Category.CANCELLED))}.",
                _limits_told(limits, options),
            ]
        case Ended.DEADLINE:
            others = {limit: number for limit, number in limits.items() if limit != Limit.DEADLINE}
            deadline = "" if options.deadline is None else f" of {duration(options.deadline)}"
            not_asked = _not_asked(limits[Limit.DEADLINE])
            parts = [f"The deadline{deadline} passed: {not_asked}.", _limits_told(others, options)]
        case Ended.LIMIT:
            unnamed = f"A limit was reached: {_not_asked(tallies.number_of(LIMITED))}."
            parts = [_limits_told(limits, options) or unnamed]
        case _:
            assert_never(why)
    return " ".join(part for part in [*parts, _errors(tallies)] if part)


def _limits_told(limits: Mapping[str, int], options: CrawlOptions) -> str:
    """ "Limit reached: 40 pages at most (417 pages were not asked for)." """
    told = [f"{_at_most(Limit(limit), options)} ({_not_asked(number)})" for limit, number in limits.items() if number]
    if not told:
        return ""
    return f"Limit{'s' if len(told) > 1 else ''} reached: {', '.join(told)}."


def _at_most(limit: Limit, options: CrawlOptions) -> str:
    match limit:
        case Limit.PAGES:
            return f"{counted(options.max_pages or 0, 'page')} at most"
        case Limit.BYTES:
            return f"{size(options.max_bytes or 0)} at most"
        case Limit.DEPTH:
            return f"{counted(options.max_depth or 0, 'link')} from the start at most"
        case Limit.SITEMAPS:
            return f"{counted(MAX_STEPS, 'sitemap')} in a row at most"
        case Limit.PAGE_TTL:
            return f"{duration(options.page_ttl or 0)} for a page at most"
        case Limit.DEADLINE:
            return f"{duration(options.deadline or 0)} at most"
    assert_never(limit)


def _not_asked(number: int) -> str:
    if not number:
        return "no page was open"
    return f"{counted(number, 'page')} {'was' if number == 1 else 'were'} not asked for"


def _errors(tallies: Tallies) -> str:
    number = without_answer(tallies)
    return f"{counted(number, 'page')} gave no usable answer." if number else ""
