"""Wakes the commands that wait for a crawl when it is over. It only saves them a part of a second: they also look at
the crawl's row, several times a second."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Self

from redis.client import PubSub
from redis.exceptions import RedisError

from crawler.frontier.keys import end_channel
from crawler.queueing import queues


def announce_end(crawl: str) -> None:
    """Wake the commands that wait for this crawl, which is over. A command that does not hear it sees it in the row."""
    with suppress(RedisError):
        queues.connection().publish(end_channel(crawl), "")


class EndSignal:
    """Hears within its context that a crawl is over."""

    def __init__(self, crawl: str) -> None:
        self._channel = end_channel(crawl)
        self._heard: PubSub | None = None

    def wait(self, seconds: float) -> None:
        """Return when the crawl is over, or after so many seconds, also while Redis does not answer. It may return too
        early."""
        until = time.monotonic() + seconds
        try:
            self._subscription().get_message(timeout=seconds)
        except RedisError:
            time.sleep(max(0.0, until - time.monotonic()))

    def _subscription(self) -> PubSub:
        if self._heard is None:
            heard = queues.connection().pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]  # by redis-py
            heard.subscribe(self._channel)
            self._heard = heard
        return self._heard

    def __enter__(self) -> Self:
        with suppress(RedisError):  # `wait` tries again
            self._subscription()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._heard is not None:
            self._heard.close()
