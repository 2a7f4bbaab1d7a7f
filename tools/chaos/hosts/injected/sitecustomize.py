"""Python imports this first where the folder is on PYTHONPATH: the faults of a worker host that come from within.

TEST_CLOCK_AHEAD: the clock is so many seconds ahead. A namespace for time would move the monotonic clock alone, and
libfaketime is not installed everywhere. The methods of `datetime` are replaced in place, so that there is one class for
Python and for modules written in C.

TEST_STOP_FILE: while this file is there, the next tick that has taken all reports in and is about to look at leases
takes the file away and stops, until it gets SIGCONT. It is a moment that no signal from outside would meet.
"""

from __future__ import annotations

import ctypes
import datetime
import functools
import gc
import os
import signal
import sys
import time
from importlib.machinery import PathFinder

AHEAD = float(os.environ.get("TEST_CLOCK_AHEAD") or 0)
STOP_FILE = os.environ.get("TEST_STOP_FILE") or ""
STOP_BEFORE = ("crawler.manager.recover_leases", "recover_leases")


def move_clock():
    real_time, real_time_ns, real_gmtime, real_localtime = time.time, time.time_ns, time.gmtime, time.localtime
    time.time = lambda: real_time() + AHEAD
    time.time_ns = lambda: real_time_ns() + int(AHEAD * 1e9)
    time.gmtime = lambda seconds=None: real_gmtime(time.time() if seconds is None else seconds)
    time.localtime = lambda seconds=None: real_localtime(time.time() if seconds is None else seconds)

    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    def utcnow(cls):
        return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

    methods = gc.get_referents(datetime.datetime.__dict__)[0]  # the very dict, which Python shows read-only
    methods["now"], methods["today"], methods["utcnow"] = classmethod(now), classmethod(now), classmethod(utcnow)
    gc.get_referents(datetime.date.__dict__)[0]["today"] = classmethod(lambda cls: cls.fromtimestamp(time.time()))
    for kind in (datetime.datetime, datetime.date):
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


class Changes:
    """A finder of modules that changes some of them once they are loaded. `changes`: name of a module -> function of
    the module."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name in self.changes else None
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(loaded):
            execute(loaded)
            self.changes[name](loaded)

        spec.loader.exec_module = exec_module
        return spec


def add_stop(module):
    function = STOP_BEFORE[1]
    setattr(module, function, stopping(getattr(module, function)))


def stopping(function):
    @functools.wraps(function)
    def stopped(*values, **named):
        try:
            os.unlink(STOP_FILE)  # noqa: PTH108 (one of those that try it succeeds)
        except OSError:
            return function(*values, **named)
        os.kill(os.getpid(), signal.SIGSTOP)
        return function(*values, **named)

    return stopped


if AHEAD:
    move_clock()
changes = {STOP_BEFORE[0]: add_stop} if STOP_FILE else {}
sys.meta_path.insert(0, Changes(changes))
