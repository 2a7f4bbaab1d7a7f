"""What the C library does with memory that was freed. It would keep it for the thread that had it, so that each of a
hundred threads ends up with the memory of the largest page it ever worked on. Nothing is done where it is not glibc."""

from __future__ import annotations

import ctypes

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
