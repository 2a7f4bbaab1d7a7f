"""The slices of a fetch job that wait: for a moment, or for a connection that their host allows."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.fetcher.session import FetchSession

FOLLOW_S = 0.5  # after the first slice that waits for a slot of a host, the others try again

WaitingSlice = tuple["FetchSession", int]
"""A slice: its session, and its number there."""


class SliceSchedule:
    """Each slice waits once. One that waits for a slot of its host also has a moment, at which it tries again: another
    worker may have given a slot back, or the throttle allows more. Only the first one of a host tries soon."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, FetchSession, int]] = []  # moment, entry, session, number
        self._entries: dict[WaitingSlice, tuple[int, float]] = {}  # the entry that counts; older ones are left there
        self._by_host: dict[str, dict[WaitingSlice, None]] = {}  # those that wait for a slot, in that order
        self._hosts: dict[WaitingSlice, str] = {}  # of the same
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, moment: float, session: FetchSession, number: int, host: str | None = None) -> None:
        """Until this moment (epoch seconds), or until a slot of the `host` is free. If others wait for one already, the
        first of them tries at this moment, and this one later: so a try of a host costs one call of Redis."""
        if host is not None:
            waiting = self._by_host.setdefault(host, {})
            first = next(iter(waiting), None)
            if first is not None:
                self._advance(first, moment)
                moment += FOLLOW_S
            waiting[session, number] = None
            self._hosts[session, number] = host
        self._push(moment, session, number)

    def _push(self, moment: float, session: FetchSession, number: int) -> None:
        entry = next(self._numbers)
        self._entries[session, number] = entry, moment
        heapq.heappush(self._heap, (moment, entry, session, number))

    def _advance(self, waiting: WaitingSlice, moment: float) -> bool:
        """Whether it would have been due later than at this moment."""
        is_later = self._entries[waiting][1] > moment
        if is_later:
            self._push(moment, *waiting)
        return is_later

    def first(self) -> tuple[float, FetchSession, int] | None:
        """The slice that is due first, and when."""
        while self._heap:
            moment, entry, session, number = self._heap[0]
            if self._entries.get((session, number)) == (entry, moment):
                return moment, session, number
            heapq.heappop(self._heap)
        return None

    def remove(self, session: FetchSession, number: int) -> None:
        del self._entries[session, number]
        host = self._hosts.pop((session, number), None)
        if host is not None:
            del self._by_host[host][session, number]
            if not self._by_host[host]:
                del self._by_host[host]

    def note_free_slot(self, host: str) -> None:
        """A slot of this host may be free: the slice that has waited longest for one is due now."""
        for waiting in self._by_host.get(host, ()):
            if self._advance(waiting, 0.0):
                return

    def has_slice_of(self, host: str) -> bool:
        return any(session.slices[number].host == host for session, number in self._entries)

    def clear(self) -> Iterator[WaitingSlice]:
        """Every slice, which no longer waits."""
        waiting, self._entries = tuple(self._entries), {}
        self._heap.clear()
        self._by_host.clear()
        self._hosts.clear()
        yield from waiting
