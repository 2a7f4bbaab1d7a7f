"""When a crawl is finished: two independent checks, and what follows from what they say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
