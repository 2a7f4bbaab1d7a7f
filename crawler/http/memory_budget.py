"""Limits the memory that large bodies take in this process: a hundred hosts may send ten megabytes each at the same
time; and returns freed memory to the system."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from concurrent.futures import Future

from crawler.http.event_loop import wait_for

LARGE_BODY = 512 * 1024  # a smaller body is not counted
MAX_BUFFERED_BYTES = 40 * 1024 * 1024  # in all large bodies together


class MemoryBudget:
    """Requests wait here until there is memory for the body they read, one after another."""

    def __init__(self, most: int = MAX_BUFFERED_BYTES) -> None:
        self._most = self._free = most
        self._waiting: deque[tuple[int, Future[MemoryShare]]] = deque()
        self._lock = threading.RLock()  # a share may be deleted, and so given back, anywhere

    def take(self, size: int, seconds: float) -> MemoryShare | None:
        """Reserve `size` bytes, at most the whole budget; None if they were not free within `seconds`."""
        share = Future[MemoryShare]()
        with self._lock:
            self._waiting.append((min(size, self._most), share))
            self._hand_out()
        try:
            return wait_for(share, seconds)
        except TimeoutError:
            return None
        finally:
            if share.cancel():  # it is not waited for any more, and those behind it may have room
                with self._lock:
                    self._hand_out()

    def give_back(self, size: int) -> None:
        with self._lock:
            self._free += size
            self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and (self._waiting[0][0] <= self._free or self._waiting[0][1].cancelled()):
            size, share = self._waiting.popleft()
            if share.set_running_or_notify_cancel():
                self._free -= size
                share.set_result(MemoryShare(self, size))


class MemoryShare:
    """A reserved part of the budget. It is returned when this object, which is kept with the body, is deleted."""

    __slots__ = ("_budget", "_size")

    def __init__(self, budget: MemoryBudget, size: int) -> None:
        self._budget, self._size = budget, size

    def __del__(self) -> None:
        self._budget.give_back(self._size)


memory_budget = MemoryBudget()
"""Of this process."""


LARGE_BLOCK = 1024 * 1024  # blocks of this size are returned to the system when they are freed

# <malloc.h> of glibc, see mallopt(3). Setting the threshold also stops it from growing.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
_ARENAS = 2  # for the fetch job, and for its tick and heartbeat

_library = ctypes.CDLL(None)
_set = getattr(_library, "mallopt", None)
_trim = getattr(_library, "malloc_trim", None)


def limit_malloc() -> None:
    """Have glibc return freed memory: it would keep what the largest page took, for each thread. Call it before threads
    are started. Does nothing without glibc."""
    if _set is not None and _trim is not None:  # another C library with mallopt has other numbers
        _set(_MMAP_THRESHOLD, LARGE_BLOCK)
        _set(_ARENA_MAX, _ARENAS)


def release_memory() -> None:
    """Return freed memory to the system."""
    if _trim is not None:
        _trim(0)
