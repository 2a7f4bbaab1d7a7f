"""Lanes: the ways in which pages are fetched, each with a queue in RQ and workers of its own.

The first one is plain HTTP; the others are given by capabilities. All pages of a crawl take its base lane, except those
that need a slot of one of the slot lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from crawler import registry
from crawler.extras import Extra

if TYPE_CHECKING:
    from crawler.core.options.catalogue import CrawlOptions


def _do_nothing() -> None:
    pass


def _allow(options: CrawlOptions, by_operator: bool) -> None:
    pass


class Lane(msgspec.Struct, frozen=True, eq=False):
    """One that all pages of a crawl take, if it is chosen."""

    queue: str  # in RQ, and the option of bin/worker; the ids of its batches begin with it
    verb: str  # what its jobs do with pages, in their descriptions
    name: str  # of its workers: "a ... worker"
    is_chosen: Callable[[CrawlOptions], bool]  # whether pages of such a crawl take it
    help: str = ""  # of the option of bin/worker
    require: Callable[[], object] = _do_nothing  # raises CrawlerError, with what to install, if it cannot run here
    warm_up: Callable[[], object] = _do_nothing  # when a worker of it starts; raises CrawlerError if it cannot
    should_recycle: Callable[[], bool] = lambda: False  # whether this process should begin no further page, but restart
    end_processes: Callable[[], object] = _do_nothing  # before the worker executes itself again
    check: Callable[[CrawlOptions, bool], object] = _allow
    """Raises BadInput if no crawl with these options may start; the operator, on the command line, may do more."""
    option: str = ""  # that chooses it
    extra: Extra | None = None  # the packages that it needs


class SlotLane(Lane, frozen=True, eq=False, kw_only=True):
    """One that single pages of a crawl take. They wait in queues of their own, and each needs a slot of a worker."""

    suffix: str  # letters, at the end of the names of those queues, see `core.protocol.retries`
    reason: Callable[[CrawlOptions, str, str], str]
    """Why a page takes it, from its kind and the reason that its row notes; "" = it does not, or not yet."""
    slots: Callable[[], int]  # of one worker: pages it takes at a time
    page_s: float  # seconds that a page is taken to spend there


FETCH = Lane("fetch", "fetch", "", lambda options: True)


@cache
def lanes() -> tuple[Lane, ...]:
    """All lanes, plain HTTP first."""
    return FETCH, *registry.entries("lanes", Lane)


@cache
def slot_lanes() -> tuple[SlotLane, ...]:
    return tuple(lane for lane in lanes() if isinstance(lane, SlotLane))


@cache
def suffixes() -> tuple[str, ...]:
    """The suffixes of the queues in which pages wait: "" for the base lane, then the slot lanes."""
    return "", *(lane.suffix for lane in slot_lanes())


def base_lane(options: CrawlOptions) -> Lane:
    """The queue of this crawl's pages, except pages in its slot lanes."""
    chosen = (lane for lane in lanes()[1:] if not isinstance(lane, SlotLane) and lane.is_chosen(options))
    return next(chosen, FETCH)


def chosen_slot_lanes(options: CrawlOptions) -> tuple[SlotLane, ...]:
    """Those that pages of this crawl may take."""
    return tuple(lane for lane in slot_lanes() if lane.is_chosen(options))


def slot_lane_of(options: CrawlOptions, kind: str, noted: str) -> tuple[str, str]:
    """The suffix of the slot lane that a page takes, and why; ("", "") = it takes the base lane."""
    for lane in slot_lanes():
        if reason := lane.reason(options, kind, noted):
            return lane.suffix, reason
    return "", ""


def lane_of_batch(batch: str) -> Lane:
    """The lane of the batch with this id."""
    return next((lane for lane in lanes() if batch.startswith(f"{lane.queue}-")), FETCH)
