"""How much of large bodies this process holds at a time: a hundred hosts that send ten megabytes each, at the same
moment, must not fill its memory."""

from __future__ import annotations

import ctypes
import threading

LARGE_BODY = 512 * 1024  # bytes; a smaller body needs no room
MOST = 40 * 1024 * 1024  # bytes of room


class Room:
    """Threads wait here until there is room for what they read."""

    def __init__(self, most: int = MOST) -> None:
        self._most = self._free = most
        self._changed = threading.Condition()

    def take(self, size: int, seconds: float) -> Share | None:
        """Room for so many bytes, or all of it for more than there can be; None when none was free for so long."""
        wanted = min(size, self._most)
        with self._changed:
            if not self._changed.wait_for(lambda: self._free >= wanted, seconds):
                return None
            self._free -= wanted
        return Share(self, wanted)

    def give_back(self, size: int) -> None:
        with self._changed:
            self._free += size
            self._changed.notify_all()


class Share:
    """Some of the room. It is given back when nobody refers to this any more: it goes along with the body."""

    __slots__ = ("_room", "_size")

    def __init__(self, room: Room, size: int) -> None:
        self._room, self._size = room, size

    def __del__(self) -> None:
        self._room.give_back(self._size)


room = Room()
"""Of this process."""


# What the C library does with memory that was freed. It would keep it for the thread that had it, so that each of a
# hundred threads ends up with the memory of the largest page it ever worked on. Nothing is done where it is not glibc.

LARGE = 1024 * 1024  # bytes; blocks of so many are the system's again as soon as they are freed

# <malloc.h> of glibc, see mallopt(3). To set a threshold also keeps it from growing with what is freed.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
_ARENAS = 2  # threads wait for Python's lock, not for one of these

_library = ctypes.CDLL(None)
_set = getattr(_library, "mallopt", None)
_trim = getattr(_library, "malloc_trim", None)


def settle() -> None:
    """To be called before there are threads; a second call changes nothing."""
    if _set is not None and _trim is not None:  # others that have a mallopt have other numbers
        _set(_MMAP_THRESHOLD, LARGE)
        _set(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """What was freed goes back to the system."""
    if _trim is not None:
        _trim(0)
