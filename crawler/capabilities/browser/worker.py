"""The RQ worker that renders pages: `rq worker -w crawler.browser.worker.BrowserWorker render`."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, NoReturn

from redis.exceptions import RedisError

from crawler import clock, conf
from crawler.capabilities.browser.chromium import BrowserMissing
from crawler.capabilities.browser.renderer import Renderer, end_browser, warm_up
from crawler.frontier.browser_places import BrowserSlots
from crawler.frontier.browser_places import BrowserWorker as Registration
from crawler.worker import Worker


class BrowserWorker(Worker):
    """As the project's worker, and tells the managers how many pages it renders at a time. It exits at once where no
    Chromium starts, and executes itself again after CRAWLER_BROWSER_PAGES pages, too."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        try:
            warm_up()
        except BrowserMissing as error:
            sys.exit(str(error))

    def _should_recycle(self) -> bool:
        return Renderer.pages >= conf.browser_pages() or super()._should_recycle()

    def _restart(self) -> NoReturn:
        end_browser()  # its processes would be left to the next program, which does not know them
        super()._restart()

    def register_birth(self) -> None:
        self._register()
        super().register_birth()

    def register_death(self) -> None:
        with suppress(RedisError):  # its registration expires
            BrowserSlots(self.connection).remove(self.name)
        super().register_death()

    def _keep_registered(self) -> bool:
        with suppress(RedisError):  # the next call retries
            self._register()
        return super()._keep_registered()

    def _register(self) -> None:
        worker = Registration(self.name, conf.browser_places())
        BrowserSlots(self.connection).register(worker, clock.epoch_seconds())
