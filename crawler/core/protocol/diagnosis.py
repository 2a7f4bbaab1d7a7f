"""What is known about a crawl that is not finished; `reports.explanation` makes sentences of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from crawler.core.installation.backpressure import Shortage
from crawler.core.politeness.host_rules import HostWait
from crawler.core.protocol.completion import State
from crawler.core.protocol.holds import HoldReason
from crawler.core.protocol.lanes import FETCH, Lane, SlotLane

WORKER_SILENT_AFTER_S = 4.0  # since it last renewed its lease, which it does every 2.5
MANAGER_SILENT_AFTER_S = 10.0  # a tick that takes longer hands over to the next one
MAX_CLAIM_S = 5.0  # from the start of a job to the claim of its batch
LOCK_SILENT_AFTER_S = 2.0  # without a statement in an open transaction; a running manager executes many per second


class Hold(StrEnum):
    """Where a batch is."""

    FETCHING = "fetching"  # a worker fetches its pages and renews its lease
    SILENT = "silent"  # its worker has not renewed its lease for a while
    REPORTED = "reported"  # its job has ended; its reports are not processed yet
    QUEUED = "queued"  # its job waits for a free worker
    BEGINNING = "beginning"  # a worker has its job and has not claimed the batch yet
    LOST = "lost"  # its job is not queued any more, and no worker has started it


def hold_of(
    *, held: bool, silent_for: float, queued: bool, started: bool, missed_for: float | None, reports: int
) -> Hold:
    """`held`: a worker claimed it; `silent_for`: seconds since the claim was renewed; `queued`, `started`: the state of
    its job in the queue; `missed_for`: seconds since the manager first missed its job there (None = it did not);
    `reports`: how many are not processed yet."""
    if held:
        if reports and not started:
            return Hold.REPORTED
        return Hold.SILENT if silent_for > WORKER_SILENT_AFTER_S else Hold.FETCHING
    if queued:
        return Hold.QUEUED
    if missed_for is None or (started and missed_for < MAX_CLAIM_S):
        return Hold.BEGINNING
    return Hold.LOST


class HandedOut(msgspec.Struct, frozen=True):
    """One batch."""

    hold: Hold
    pages: int  # of it that are still open
    back_in: float  # seconds until its pages return to the frontier unless its worker responds


class SilentLock(msgspec.Struct, frozen=True):
    """The lock on a crawl's row, held by an idle connection: its machine has stopped or is gone."""

    client: str  # its address; "" = not known
    silent_for: float  # seconds
    ends_in: float | None  # seconds until the database ends that connection; None = it does not


class Manager(StrEnum):
    """The state of the crawl manager."""

    WORKING = "working"
    SILENT = "silent"  # a tick is running, but has not renewed its lock for a while
    COMING = "coming"  # its next tick waits for a free worker
    RESTING = "resting"  # until something is due, or results arrive


def manager_of(*, silent_for: float | None, is_coming: bool) -> Manager:
    """`silent_for`: seconds since the running tick renewed its lock; None = no tick is running."""
    if silent_for is not None:
        return Manager.SILENT if silent_for > MANAGER_SILENT_AFTER_S else Manager.WORKING
    return Manager.COMING if is_coming else Manager.RESTING


class Facts(msgspec.Struct, frozen=True):
    """What is known about a crawl at one moment."""

    state: State
    open_pages: int  # in the table
    redis_answers: bool = True
    crawl_workers: int = 1  # alive and listening to the queue `crawl`
    fetch_workers: int = 1  # alive and listening to the queue `fetch`
    lane: Lane = FETCH  # the base lane of the crawl
    lane_workers: int = 0  # alive and listening to its queue, if that is another one
    is_autoscaled: bool = False  # an autoscaler runs, which starts workers
    stirred: bool = False  # a process worked on this crawl a moment ago
    has_begun: bool = True  # at least one page is closed
    begun_for: float = 0.0  # seconds since the crawl, or its latest round, was started
    ran_ago: float | None = None  # seconds since the manager's last run; None = none is known
    is_lined_up: bool = True  # Redis knows how far the table was queued
    batches: Sequence[HandedOut] = ()
    hosts: Sequence[HostWait] = ()  # some of the waiting hosts, the next one first
    hosts_waiting: int = 0  # how many there are
    for_slots: Sequence[tuple[SlotLane, int, int]] = ()  # pages that wait for a slot of it and are due, all its slots
    held_up: Sequence[HostWait] = ()  # the hosts being fetched, if the worker has to wait for each of them
    reports: int = 0  # of fetch jobs, not processed yet
    manager: Manager = Manager.RESTING
    sent_ago: float = 0.0  # with COMING: seconds since the tick was queued
    lock_left: float = 0.0  # with SILENT: seconds until another tick may take over
    ends_in: float | None = None  # seconds until the crawl's deadline
    expires_in: float | None = None  # seconds until the next open page expires
    closing_in: float | None = None  # seconds until the last, put-off pages close; None = other pages are open
    stays_open: bool = False  # with no page open it waits for more
    given_up: int = 0  # pages given up in the last hour
    disagreements: int = 0  # of the two checks that decide "finished", in all
    hold: HoldReason = HoldReason.USER  # if it is paused: why
    pause_reason: str = ""  # of the crawl's row, with REFUSED
    held_for: float | None = None  # seconds until it is resumed automatically
    shortage: Shortage | None = None  # of disk or memory
    locked: SilentLock | None = None  # that keeps the manager from writing
    evicts: bool = False  # Redis may evict keys of the crawl

    def pages_in(self, *holds: Hold) -> int:
        return sum(batch.pages for batch in self.batches if batch.hold in holds)

    def batches_in(self, *holds: Hold) -> list[HandedOut]:
        return [batch for batch in self.batches if batch.hold in holds]

    @property
    def is_locked_out(self) -> bool:
        """Whether nothing can be written, because a process died with the row locked."""
        return self.locked is not None and self.locked.silent_for >= LOCK_SILENT_AFTER_S

    @property
    def has_workers(self) -> bool:
        return bool(self.crawl_workers and (self.fetch_workers if self.lane is FETCH else self.lane_workers))
