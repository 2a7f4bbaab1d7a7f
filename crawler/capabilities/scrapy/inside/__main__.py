"""The process of Scrapy. Reads messages from its standard input and writes to its standard output, until the worker
closes the pipe: then the spider is closed and the process ends, and so it does when its worker has died.

What a spider prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import BinaryIO

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.project import get_project_settings

from crawler.capabilities.scrapy import messages
from crawler.capabilities.scrapy.inside import handler
from crawler.capabilities.scrapy.inside.handler import Bridge
from crawler.capabilities.scrapy.inside.pages import Pages
from crawler.capabilities.scrapy.inside.spiders import NoSpider, PagesSpider, spider_named, without_start
from crawler.capabilities.scrapy.inside.yielded import Collector
from crawler.capabilities.scrapy.settings import LEFT_OUT_MIDDLEWARES

NEAREST_TO_ENGINE = -1_000_000  # place of a spider middleware
CLOSING_S = 20.0  # that pipelines have to close once the worker is gone


def main(arguments: list[str]) -> int:
    """With the dotted name of a spider, print in one line what is wrong with it, if anything."""
    if arguments:
        try:
            spider_named(arguments[0])
        except NoSpider as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    source, target = _pipes()
    begin = messages.read_in_process(source)
    if not isinstance(begin, messages.Begin):
        return 0
    writing = threading.Lock()

    def send(message: messages.ToWorker) -> None:
        with writing:
            try:
                target.write(messages.encoded(message))
                target.flush()
            except BrokenPipeError:
                pass  # the worker is gone, and the reader ends this process

    try:
        process, crawler = _prepared(begin)
        _kept = _Process(source, send, crawler)  # signals hold no reference to what they call
        crawl = process.crawl(crawler)
        process.start(install_signal_handlers=False)
        crawl.result()
    except Exception as error:  # noqa: BLE001  # whatever the user's settings and components raise
        known = str(error) if isinstance(error, NoSpider) else f"{type(error).__name__}: {error}"
        send(messages.Unusable(why=" ".join(known.split())[:300]))
        return 1
    return 0


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the worker, which are no longer standard input and output: a spider may use these."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(source, "rb"), os.fdopen(target, "wb")


def _prepared(begin: messages.Begin) -> tuple[AsyncCrawlerProcess, Crawler]:
    """Scrapy; settings of the crawl override the spider's, which override the project's."""
    settings = get_project_settings()
    for name, value in begin.usual.items():
        if settings.getpriority(name) in (None, 0):
            settings.set(name, value, "default")
    settings.setdict(begin.settings, "cmdline")
    process = AsyncCrawlerProcess(settings)
    spider = spider_named(begin.spider) if begin.spider else PagesSpider
    crawler = process.create_crawler(without_start(spider))
    of_spider = {**crawler.settings.getdict("SPIDER_MIDDLEWARES"), Collector: NEAREST_TO_ENGINE}
    crawler.settings.set("SPIDER_MIDDLEWARES", of_spider, "cmdline")
    middlewares = crawler.settings.getdict("DOWNLOADER_MIDDLEWARES") | dict.fromkeys(LEFT_OUT_MIDDLEWARES)
    crawler.settings.set("DOWNLOADER_MIDDLEWARES", middlewares, "cmdline")
    return process, crawler


class _Process:
    """Lets the spider wait for pages, and ends it with the pipe."""

    def __init__(self, source: BinaryIO, send: object, crawler: Crawler) -> None:
        self._source, self._crawler = source, crawler
        self._bridge = handler.bridge = Bridge(send)  # type: ignore[arg-type]
        self._pages: Pages | None = None
        self._tasks = set[asyncio.Task[None]]()  # asyncio itself keeps no reference to a task
        self._is_open = True
        crawler.signals.connect(self._begin, signals.spider_opened)
        crawler.signals.connect(self._stay, signals.spider_idle)
        crawler.signals.connect(self._leave, signals.spider_closed)

    def _begin(self) -> None:
        self._pages = Pages(self._crawler, self._bridge)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="pipe", daemon=True).start()
        self._bridge.send(messages.Ready())

    def _stay(self) -> None:
        if self._is_open:
            raise DontCloseSpider

    def _leave(self) -> None:
        self._bridge.send(messages.Closing())

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        while (message := messages.read_in_process(self._source)) is not None:
            loop.call_soon_threadsafe(self._take, message)
        ending = threading.Timer(CLOSING_S, os._exit, (1,))
        ending.daemon = True  # if the pipelines are closed sooner, it does not keep the process
        ending.start()
        loop.call_soon_threadsafe(self._close)

    def _take(self, message: messages.ToProcess) -> None:
        match message:
            case messages.RunPage() if self._pages is not None:
                self._do(self._pages.visit(message))
            case messages.Response():
                self._bridge.answer(message)
            case messages.Forget():
                self._bridge.forget(message.page)
            case _:
                pass

    def _close(self) -> None:
        self._is_open = False
        for page in tuple(self._bridge.sent):
            self._bridge.forget(page)
        self._do(self._crawler.stop_async())

    def _do(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
