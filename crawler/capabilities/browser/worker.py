"""The RQ worker that renders pages: `rq worker -w crawler.browser.worker.BrowserWorker render`."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from crawler import clock
from crawler.capabilities.browser.chromium import BrowserMissing
from crawler.capabilities.browser.lanes import RENDER
from crawler.capabilities.browser.renderer import warm_up
from crawler.frontier.slots import LaneSlots, SlotWorker
from crawler.worker import Worker


class BrowserWorker(Worker):
    """As the project's worker, and tells the managers how many pages it renders at a time. It exits at once where no
    Chromium starts."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        try:
            warm_up()
        except BrowserMissing as error:
            sys.exit(str(error))

    def register_birth(self) -> None:
        self._register()
        super().register_birth()

    def register_death(self) -> None:
        with suppress(RedisError):  # its registration expires
            LaneSlots(self.connection, RENDER).remove(self.name)
        super().register_death()

    def _keep_registered(self) -> bool:
        with suppress(RedisError):  # the next call retries
            self._register()
        return super()._keep_registered()

    def _register(self) -> None:
        LaneSlots(self.connection, RENDER).register(SlotWorker(self.name, RENDER.slots()), clock.epoch_seconds())
