"""Limits the calls during which the web process waits for another server: previews and tests of channels.

Each holds a thread of the web process for seconds. So a process makes MAX_CALLS at a time, and a user one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from crawler.core.errors import TooBusy

MAX_CALLS = 2  # of one process, at a time
RETRY_AFTER_S = 5

_lock = Lock()
_users = set[int]()  # those whose call is under way


@contextmanager
def slow_call(user: int) -> Iterator[None]:
    """For the duration of the block; TooBusy if the user, or the process, has no further one now."""
    with _lock:
        if user in _users:
            raise TooBusy(
                "Your last preview or test is still in progress. Wait until it is done, then try again.", RETRY_AFTER_S
            )
        if len(_users) >= MAX_CALLS:
            raise TooBusy(
                f"The server is busy with {MAX_CALLS} other previews or tests. Try again in {RETRY_AFTER_S} seconds.",
                RETRY_AFTER_S,
            )
        _users.add(user)
    try:
        yield
    finally:
        with _lock:
            _users.discard(user)
