"""Wakes a fetch job when a job is sent: in a task of its event loop it blocks on a list in Redis."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError

from crawler.http.errors import RequestAborted
from crawler.http.event_loop import READABLE, EventLoop, wait_for_socket
from crawler.queueing import queues

log = logging.getLogger(__name__)

BLOCK_S, MARGIN_S = 30, 5.0  # for which Redis holds up the command; by which its response may be late


class JobSignal:
    """Without it, or while Redis does not answer, the job finds what was sent at its next check of the queues."""

    def __init__(self, loop: EventLoop, on_job: Callable[[], object]) -> None:
        self._loop, self._on_job = loop, on_job
        self._has_begun = False

    def begin(self) -> None:
        """Listen from now on, until the loop ends."""
        if not self._has_begun:
            self._has_begun = True
            self._loop.spawn(self._listen)

    def _listen(self) -> None:
        """A connection of its own: redis-py's client would block the whole loop until a job is sent."""
        pool = queues.connection().connection_pool
        connection: Any = pool.get_connection()  # redis-py gives its methods no types
        try:
            while True:
                connection.send_command("BLPOP", queues.BUSY_SIGNAL, BLOCK_S)
                wait_for_socket(connection._sock, READABLE, BLOCK_S + MARGIN_S)
                if connection.read_response() is not None:
                    self._on_job()
        except (RedisError, OSError) as error:  # also a timeout
            log.warning("jobs that are sent are noticed later: %s", error)
        except RequestAborted:  # its worker shuts down
            return
        finally:
            connection.disconnect()
            pool.release(connection)
