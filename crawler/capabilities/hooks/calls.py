"""Calls a method of a hook with a time limit, and contains its errors.

Each call has a thread of its own, because Python cannot end code that does not return: a call that takes longer is left
behind in its thread, and its page goes on without it. While MAX_LEFT_BEHIND of a hook's calls have not ended, it is not
called in this process, so that what hangs costs a bounded number of threads and seconds.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from django.db import connections

from crawler.capabilities.hooks import conf
from crawler.capabilities.hooks.loading import Hook
from crawler.core.pages.code_calls import MAX_ERROR
from crawler.core.text.sanitize import one_line
from crawler.http.with_timeout import call_with_timeout

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_LEFT_BEHIND = 4  # calls of a hook in a process
MAX_TRACEBACKS = 10  # in the log of a process, of each hook; further errors are one line each

_lock = threading.Lock()
_left_behind, _failed = Counter[str](), Counter[str]()  # hook -> calls that have not ended, calls that failed


class CallResult(msgspec.Struct, Generic[T], frozen=True):
    """What came of a call."""

    value: T | None = None  # None, too, if it failed
    error: str = ""  # one line; "" = it returned
    timed_out: bool = False


def call(hook: Hook, method: str, read: Callable[[Any], T], *given: Any) -> CallResult[T]:
    """Call a method of the hook and `read` what it returns, both within CRAWLER_HOOK_SECONDS. Nothing that they raise
    comes out of here, not even SystemExit."""
    seconds, attempt = conf.hook_seconds(), _Attempt(hook, method, read, given)
    with _lock:
        waits = _left_behind[hook.name]
    if waits >= MAX_LEFT_BEHIND:
        return _timed_out(hook, method, f"not called: {waits} earlier calls have not ended in this worker")
    try:
        return call_with_timeout(attempt.run, seconds)
    except TimeoutError:
        attempt.abandon()
        return _timed_out(hook, method, f"it took longer than {seconds:g} s")


class _Attempt(Generic[T]):
    """One call, in its thread."""

    def __init__(self, hook: Hook, method: str, read: Callable[[Any], T], given: tuple[Any, ...]) -> None:
        self._hook, self._method, self._read, self._given = hook, method, read, given
        self._has_ended = self._is_left_behind = False

    def run(self) -> CallResult[T]:
        try:
            return CallResult(self._read(self._hook.method(self._method)(*self._given)))
        except BaseException as error:  # noqa: BLE001 (sys.exit() in a hook ends nothing)
            return CallResult(error=_noted(self._hook, self._method, error))
        finally:
            connections.close_all()  # of this thread
            with _lock:
                self._has_ended = True
                _left_behind[self._hook.name] -= self._is_left_behind

    def abandon(self) -> None:
        with _lock:
            self._is_left_behind = not self._has_ended
            _left_behind[self._hook.name] += self._is_left_behind


def _timed_out(hook: Hook, method: str, why: str) -> CallResult[Any]:
    log.warning("hook %s: %s: %s", hook.name, method, why)
    return CallResult(error=why, timed_out=True)


def _noted(hook: Hook, method: str, error: BaseException) -> str:
    words = _words(error)
    with _lock:
        _failed[hook.name] += 1
        has_traceback = _failed[hook.name] <= MAX_TRACEBACKS
    log.warning("hook %s: %s raised %s", hook.name, method, words, exc_info=error if has_traceback else None)
    return words


def _words(error: BaseException) -> str:
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001 (it is the operator's class, too)
        message = ""
    return one_line(f"{type(error).__name__}: {message}" if message else type(error).__name__)[:MAX_ERROR]
