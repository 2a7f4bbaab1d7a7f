"""Limits the calls during which the web process waits for another server: previews and tests of channels.

Each holds a thread of the web process for seconds. So a process makes MAX_CALLS at a time, and a user one, in all
processes together; while Redis is away, one in each.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

from redis import RedisError

from crawler.core.errors import TooBusy
from crawler.frontier import keys
from crawler.queueing import queues

MAX_CALLS = 2  # of one process, at a time
RETRY_AFTER_S = 5
LONGEST_S = 120  # longer than any call; after it the user of a process that was killed may make another
OWN = "Your last preview or test is still in progress. Wait until it is done, then try again."

log = logging.getLogger(__name__)

_lock = Lock()
_users = set[int]()  # those whose call is under way


@contextmanager
def slow_call(user: int) -> Iterator[None]:
    """For the duration of the block; TooBusy if the user, or the process, has no further one now."""
    with _lock:
        if user in _users:
            raise TooBusy(OWN, RETRY_AFTER_S)
        if len(_users) >= MAX_CALLS:
            raise TooBusy(
                f"The server is busy with {MAX_CALLS} other previews or tests. Try again in {RETRY_AFTER_S} seconds.",
                RETRY_AFTER_S,
            )
        _users.add(user)
    try:
        with _in_all_processes(user):
            yield
    finally:
        with _lock:
            _users.discard(user)


@contextmanager
def _in_all_processes(user: int) -> Iterator[None]:
    key = keys.slow_call_of(user)
    try:
        redis = queues.connection()
        is_first = redis.set(key, 1, ex=LONGEST_S, nx=True) is not None
    except RedisError as error:
        log.warning("each process limits previews on its own, because Redis does not respond: %s", error)
        yield
        return
    if not is_first:
        raise TooBusy(OWN, RETRY_AFTER_S)
    try:
        yield
    finally:
        with suppress(RedisError):  # it expires
            redis.delete(key)
