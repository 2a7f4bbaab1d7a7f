"""One crawl by Crawlee with Parsel: `python -m tools.bench.peers.crawlee_crawl URL CONCURRENCY FILE`."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from datetime import timedelta
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from tools.bench.peers.lines import Lines
from tools.bench.processes import own_cpu_seconds


async def crawl(url: str, concurrency: int, lines: Lines) -> tuple[float, float]:
    """Seconds and CPU seconds it took. Its queue is kept in memory, which is the fastest of those it comes with."""
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency, desired_concurrency=concurrency, max_concurrency=concurrency
        ),
        storage_client=MemoryStorageClient(),
        respect_robots_txt_file=False,
        configure_logging=False,
        statistics_log_format="inline",
        request_handler_timeout=timedelta(minutes=1),
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        requests = await context.extract_links(strategy="same-hostname")
        title = context.selector.css("title::text").get()
        links = [request.url for request in requests]
        lines.write(context.request.loaded_url or context.request.url, context.http_response.status_code, title, links)
        await context.add_requests(requests)

    began, used = time.perf_counter(), own_cpu_seconds()
    await crawler.run([url])
    return time.perf_counter() - began, own_cpu_seconds() - used


def main() -> None:
    url, concurrency, file = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    logging.disable(logging.WARNING)
    with Lines(file) as lines:
        print(lines.report(*asyncio.run(crawl(url, concurrency, lines))))


if __name__ == "__main__":
    main()
