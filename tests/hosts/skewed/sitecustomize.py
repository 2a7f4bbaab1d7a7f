"""Python imports this first where the folder is on PYTHONPATH: the clock of this process is TEST_CLOCK_AHEAD seconds
ahead. A namespace for time would move the monotonic clock alone, and libfaketime is not installed everywhere.

The methods of `datetime` are replaced in place, so that there is one class for Python and for modules written in C.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import os
import time

AHEAD = float(os.environ.get("TEST_CLOCK_AHEAD") or 0)

if AHEAD:
    _time, _time_ns, _gmtime, _localtime = time.time, time.time_ns, time.gmtime, time.localtime
    time.time = lambda: _time() + AHEAD
    time.time_ns = lambda: _time_ns() + int(AHEAD * 1e9)
    time.gmtime = lambda seconds=None: _gmtime(time.time() if seconds is None else seconds)
    time.localtime = lambda seconds=None: _localtime(time.time() if seconds is None else seconds)

    def _now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    def _utcnow(cls):
        return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

    _real = gc.get_referents(datetime.datetime.__dict__)[0]
    _real["now"], _real["today"], _real["utcnow"] = classmethod(_now), classmethod(_now), classmethod(_utcnow)
    gc.get_referents(datetime.date.__dict__)[0]["today"] = classmethod(lambda cls: cls.fromtimestamp(time.time()))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.date))
