"""Gives a whole process a wrong clock: Python loads this before anything else where this folder is in PYTHONPATH.

TESTS_CLOCK_AHEAD is by how many seconds. Only what asks for the time of day is changed; the monotonic clock, which a
wrong time of day does not touch, goes on as it is.
"""

import datetime
import os
import time
from typing import Any

AHEAD_S = float(os.environ.get("TESTS_CLOCK_AHEAD", "0"))

_real_time, _real_time_ns, _Real = time.time, time.time_ns, datetime.datetime


class _Kind(type):
    def __instancecheck__(cls, item: object) -> bool:
        return isinstance(item, _Real)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _Real)


class _Skewed(_Real, metaclass=_Kind):
    """Makes ordinary datetimes."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        return _Real(*given, **named)

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return _Real.now(tz) + datetime.timedelta(seconds=AHEAD_S)

    @classmethod
    def utcnow(cls) -> Any:
        return _Real.now(datetime.UTC).replace(tzinfo=None) + datetime.timedelta(seconds=AHEAD_S)

    @classmethod
    def today(cls) -> Any:
        return cls.now()


_Skewed.__name__ = _Skewed.__qualname__ = "datetime"
_Skewed.__module__ = "datetime"

if AHEAD_S:
    time.time = lambda: _real_time() + AHEAD_S
    time.time_ns = lambda: _real_time_ns() + int(AHEAD_S * 1e9)
    datetime.datetime = _Skewed  # type: ignore[misc]
