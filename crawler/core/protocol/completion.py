"""The states of a crawl, when it is finished, when it is looked at again, and why it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import assert_never

import msgspec

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import LIMITED, USABLE, Category, Outcome
from crawler.core.protocol.counters import Tallies
from crawler.core.protocol.retries import TRANSIENT_STATUSES


class State(StrEnum):
    """Where a crawl is in its life."""

    LOADING = "loading"  # its URL list is being imported; no page is handed out yet
    RUNNING = "running"  # pages are handed out and results processed
    PAUSED = "paused"  # results are processed, no page is handed out
    FINISHED = "finished"  # every page has its outcome, and the notice is in the outbox
    CANCELLED = "cancelled"  # a user stopped it; its open pages were closed as cancelled

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
    State.FINISHED: frozenset({State.RUNNING}),  # its dead letters are retried
    State.CANCELLED: frozenset({State.RUNNING}),  # the same
}
"""For each state, the states that may come next."""


def predecessors(state: State) -> tuple[State, ...]:
    """The states from which this one may be entered; the condition of an update."""
    return tuple(earlier for earlier, later in FOLLOWS.items() if state in later)


# When a crawl is finished, and when the next check of all crawls is due. All processes share these intervals.

CHECK_INTERVAL_S = 4.0  # while nothing is due
MIN_CHECK_INTERVAL_S, MAX_CHECK_INTERVAL_S = 0.05, 5.0
REST_RATIO, REST_RATIO_WHEN_DUE = 20, 4  # length of the pause after a check, in durations of that check


class QueueSide(msgspec.Struct, frozen=True):
    """What Redis knows about a crawl at one moment."""

    results: int  # reports of fetch jobs that are not processed yet
    leases: int  # batches handed out and not completed yet
    hosts: int  # hosts with pages waiting in the frontier
    dirty: bool  # another tick was requested after this one began

    @property
    def is_empty(self) -> bool:
        return self.is_idle and not self.hosts

    @property
    def is_idle(self) -> bool:
        """Whether no page is handed out, and no result is left to store."""
        return not (self.results or self.leases or self.dirty)

    @property
    def only_waits(self) -> bool:
        """Whether there are only pages that are not due yet."""
        return bool(self.hosts) and self.is_idle


class CompletionCheck(StrEnum):
    """The result of the two checks."""

    GO_ON = "go_on"  # the queue side holds work; the table is not asked
    FINISH = "finish"  # nothing is queued and no page is open
    DISAGREE = "disagree"  # nothing is queued, yet the table has open pages: rebuild the frontier from it


def verdict(queue_side: QueueSide, *, open_pages: bool) -> CompletionCheck:
    if not queue_side.is_empty:
        return CompletionCheck.GO_ON
    return CompletionCheck.DISAGREE if open_pages else CompletionCheck.FINISH


class Liveness(msgspec.Struct, frozen=True):
    """The state of a running crawl that any process can read."""

    locked: bool  # a tick is running
    tick_coming: bool  # a tick is queued
    results: int
    leases: int
    overdue_leases: int  # leases that a tick should check now
    next_due: float | None  # epoch seconds when a host of the frontier may be requested next; None = no host waits
    next_expiry: float | None = None  # epoch seconds when an open page expires; None = never
    closing_at: float | None = None  # epoch seconds when the last, put-off pages close; None = other pages are open
    paused: bool = False  # no page may be handed out
    rewound: bool = False  # the frontier is to be filled again from the first row of the table
    waits_for_slot: bool = False  # pages of a slot lane wait, and none is free
    waits_for_pages: bool = False  # it is kept open, and no page is
    next_loss: float | None = None  # epoch seconds when a lease, a lock or a mark expires unless it is renewed

    def next_moment(self, now: float) -> float | None:
        """Epoch seconds when the crawl should be checked again; None = nothing has a time. What was due before now is
        done by the running or queued tick."""
        times = [self.next_loss]
        if not self.paused:
            times += [self.next_due, self.next_expiry, self.closing_at]
        return min((at for at in times if at is not None and at > now), default=None)


def rest_after(took: float, next_in: float | None) -> float:
    """Seconds until the next check of the crawls, after a check that took `took` seconds.

    The pause lasts until something is due (`next_in`, in seconds; None = nothing has a time). It is bounded above
    because Redis may lose its data, and below so that checks take a small part of one core with any number of idle
    workers.
    """
    usual = max(CHECK_INTERVAL_S, took * REST_RATIO)
    soon = usual if next_in is None else max(next_in, took * REST_RATIO_WHEN_DUE, MIN_CHECK_INTERVAL_S)
    return min(usual, soon, MAX_CHECK_INTERVAL_S)


def needs_tick(signs: Liveness, now: float) -> bool:
    """Whether a process should enqueue a tick: there is work for the manager, and no tick is running or queued."""
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
    if signs.waits_for_slot or signs.waits_for_pages:
        return False
    return signs.leases == 0  # nothing is handed out and nothing waits: finished, or lost by Redis


# Why a crawl ended, and which limits closed pages.


class EndReason(StrEnum):
    """Why a crawl ended. Where several are true, the first of CANCELLED, DEADLINE, LIMIT is said."""

    COMPLETE = "complete"  # every page that may be requested was, and all of them responded
    COMPLETE_WITH_ERRORS = "complete_with_errors"  # the same, and some gave no usable response
    LIMIT = "limit"  # pages were not requested because of a limit other than the deadline
    DEADLINE = "deadline"  # pages were not requested because the deadline passed
    CANCELLED = "cancelled"  # a user ended it, now or in an earlier round that left pages unrequested


class Limit(StrEnum):
    """What closes pages with the outcome `limit` or `expired`."""

    PAGES = "pages"  # max_pages
    BYTES = "bytes"  # max_bytes
    DEPTH = "depth"  # max_depth
    SITEMAPS = "sitemaps"  # a sitemap behind more than MAX_STEPS others
    PAGE_TTL = "page_ttl"  # the time for one page
    DEADLINE = "deadline"  # the time for the crawl


def limit_of_time(options: CrawlOptions, round_began_at: float, now: float) -> Limit:
    """The limit by which pages expire at `now` (epoch seconds, as `round_began_at`)."""
    if options.deadline is None or now < round_began_at + options.deadline:
        return Limit.PAGE_TTL
    return Limit.DEADLINE


LIMITS_OF: dict[str, tuple[Limit, ...]] = {
    Outcome.LIMIT: (Limit.PAGES, Limit.BYTES, Limit.DEPTH, Limit.SITEMAPS),
    Outcome.EXPIRED: (Limit.DEADLINE, Limit.PAGE_TTL),
}
"""Outcome -> the limits that close pages with it."""


def presumed_limits(outcome: str, pages: int, counted: Mapping[str, int]) -> Counter[str]:
    """The limits of pages whose rows name none, because a process of an earlier version closed them: those that the
    crawl counts (Limit -> pages), in their order."""
    presumed = Counter[str]()
    for limit in LIMITS_OF[outcome]:
        presumed[limit] = min(pages - presumed.total(), counted.get(limit, 0))
    return presumed


def ended(state: State, tallies: Tallies, limits: Mapping[str, int]) -> EndReason | None:
    """Why a crawl in this state ended; None while it is not over. `limits`: Limit -> pages it closed.

    Pages excluded by robots.txt or a trap do not make a crawl incomplete.
    """
    if not state.is_over:
        return None
    if state is State.CANCELLED or tallies.in_category(Category.CANCELLED):
        return EndReason.CANCELLED
    if limits.get(Limit.DEADLINE, 0) > 0:
        return EndReason.DEADLINE
    if tallies.number_of(LIMITED):
        return EndReason.LIMIT
    if without_answer(tallies) or not tallies.number_of(USABLE):
        return EndReason.COMPLETE_WITH_ERRORS
    return EndReason.COMPLETE


def without_answer(tallies: Tallies) -> int:
    """Pages that were requested without a usable response: they failed, or another attempt might succeed (5xx, 408,
    425, 429). A 404 is a usable response."""
    refused = sum(number for status, number in tallies.statuses.items() if int(status) in TRANSIENT_STATUSES)
    return tallies.in_category(Category.FAILED) + refused
