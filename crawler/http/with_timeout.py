"""Runs a call without a timeout of its own with a timeout."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from crawler.http.event_loop import wait_for

T = TypeVar("T")


def call_with_timeout(call: Callable[[], T], seconds: float) -> T:
    """What the call returns or raises; TimeoutError if it takes longer. The call then continues in its thread until it
    ends by itself."""
    future = Future[T]()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001  # passed to the waiting thread
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return wait_for(future, seconds)
