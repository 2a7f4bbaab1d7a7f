"""One crawl by Scrapy: `python -m tools.bench.peers.scrapy_crawl URL CONCURRENCY FILE`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor

from tools.bench.peers.lines import Lines
from tools.bench.processes import own_cpu_seconds


class Site(Spider):
    """Follows every link of the host it starts at."""

    name = "site"

    def __init__(self, url: str, lines: Lines, **named: Any) -> None:
        super().__init__(**named)
        self.start_urls = [url]
        self._own = urlsplit(url).netloc
        self._lines = lines
        self._extractor = LinkExtractor()

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if not isinstance(response, TextResponse):
            return  # a picture, or something to download
        links = [link.url for link in self._extractor.extract_links(response)]
        self._lines.write(response.url, response.status, response.css("title::text").get(), links)
        for link in links:
            if urlsplit(link).netloc == self._own:
                yield Request(link)


def main() -> None:
    url, concurrency, file = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    settings = {
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "HTTPCACHE_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }
    with Lines(file) as lines:
        process = CrawlerProcess(settings)
        began, used = time.perf_counter(), own_cpu_seconds()
        process.crawl(Site, url=url, lines=lines)
        process.start()
        print(lines.report(time.perf_counter() - began, own_cpu_seconds() - used))


if __name__ == "__main__":
    main()
