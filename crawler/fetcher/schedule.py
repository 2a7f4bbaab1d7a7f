"""The slices of a fetch job that wait: for a moment, or for a connection that their host allows."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import count

from crawler.fetcher.session import FetchSession

WaitingSlice = tuple[FetchSession, int]
"""A slice: its session, and its number there."""


class SliceSchedule:
    """Each slice waits once. One that waits for a slot of its host also has a moment, at which it tries again: another
    worker may have given the slot back."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, FetchSession, int]] = []  # moment, entry, session, number
        self._entries: dict[WaitingSlice, int] = {}  # the entry of the heap that counts; older ones are left there
        self._by_host: dict[str, deque[WaitingSlice]] = defaultdict(deque)  # those that wait for a slot, or did
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, moment: float, session: FetchSession, number: int, host: str | None = None) -> None:
        """Until this moment (epoch seconds), or until a slot of the `host` is free."""
        entry = next(self._numbers)
        self._entries[session, number] = entry
        heapq.heappush(self._heap, (moment, entry, session, number))
        if host is not None:
            self._by_host[host].append((session, number))

    def first(self) -> tuple[float, FetchSession, int] | None:
        """The slice that is due first, and when."""
        while self._heap:
            moment, entry, session, number = self._heap[0]
            if self._entries.get((session, number)) == entry:
                return moment, session, number
            heapq.heappop(self._heap)
        return None

    def remove(self, session: FetchSession, number: int) -> None:
        del self._entries[session, number]

    def note_free_slot(self, host: str) -> None:
        """A slot of this host is free: the slice that has waited longest for one is due now."""
        waiting = self._by_host.pop(host, deque[WaitingSlice]())
        while waiting:
            session, number = waiting.popleft()
            if (session, number) in self._entries:
                self.add(0.0, session, number)
                break
        if waiting:
            self._by_host[host] = waiting

    def clear(self) -> Iterator[WaitingSlice]:
        """Every slice, which no longer waits."""
        waiting, self._entries = tuple(self._entries), {}
        self._heap.clear()
        self._by_host.clear()
        yield from waiting
