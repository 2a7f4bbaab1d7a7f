"""One crawl by scrapy-playwright: `python -m tools.bench.peers.scrapy_browser URL PLACES CHROMIUM FILE`.

PLACES: pages at a time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor

from tools.bench.peers.lines import Lines
from tools.bench.usage import Usage

BLOCKED = frozenset({"image", "font", "media"})
IN_BROWSER = {"playwright": True, "playwright_page_goto_kwargs": {"wait_until": "networkidle"}}


class Site(Spider):
    """Follows every link of the host it starts at."""

    name = "site"

    def __init__(self, url: str, lines: Lines, **named: Any) -> None:
        super().__init__(**named)
        self._url, self._own = url, urlsplit(url).netloc
        self._lines = lines
        self._extractor = LinkExtractor()

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self._url, meta=IN_BROWSER)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if not isinstance(response, TextResponse):
            return  # something to download
        links = [link.url for link in self._extractor.extract_links(response)]
        self._lines.write(response.url, response.status, response.css("title::text").get(), links)
        for link in links:
            if urlsplit(link).netloc == self._own:
                yield Request(link, meta=IN_BROWSER)


def main() -> None:
    url, places, chromium, file = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    settings = {
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": chromium, "chromium_sandbox": os.geteuid() != 0},
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": places,
        "PLAYWRIGHT_ABORT_REQUEST": lambda request: request.resource_type in BLOCKED,
        "CONCURRENT_REQUESTS": places,
        "CONCURRENT_REQUESTS_PER_DOMAIN": places,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "HTTPCACHE_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }
    with Lines(file) as lines:
        process = CrawlerProcess(settings)
        began = time.perf_counter()
        with Usage(lambda: [os.getpid()]) as usage:
            process.crawl(Site, url=url, lines=lines)
            process.start()
            seconds = time.perf_counter() - began
        print(lines.report(seconds, usage.cpu_seconds, usage.peak_bytes))


if __name__ == "__main__":
    main()
