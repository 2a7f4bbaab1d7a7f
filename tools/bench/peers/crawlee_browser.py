"""One crawl by Crawlee with Playwright: `python -m tools.bench.peers.crawlee_browser URL PLACES CHROMIUM FILE`.

PLACES: pages at a time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext, PlaywrightPreNavCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from tools.bench.peers.lines import Lines
from tools.bench.usage import Usage


async def crawl(url: str, places: int, chromium: str, lines: Lines) -> float:
    """Seconds it took. Its queue is kept in memory; no page gets a fingerprint, which would cost it more."""
    crawler = PlaywrightCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=places, desired_concurrency=places, max_concurrency=places
        ),
        storage_client=MemoryStorageClient(),
        respect_robots_txt_file=False,
        configure_logging=False,
        statistics_log_format="inline",
        request_handler_timeout=timedelta(minutes=1),
        headless=True,
        browser_launch_options={"executable_path": chromium, "chromium_sandbox": os.geteuid() != 0},
        goto_options={"wait_until": "networkidle"},
        fingerprint_generator=None,
    )

    @crawler.pre_navigation_hook
    async def block(context: PlaywrightPreNavCrawlingContext) -> None:
        await context.block_requests()  # images, fonts and style sheets, by the endings of their names

    @crawler.router.default_handler
    async def handle(context: PlaywrightCrawlingContext) -> None:
        requests = await context.extract_links(strategy="same-hostname")
        lines.write(
            context.request.loaded_url or context.request.url,
            context.response.status,
            await context.page.title(),
            [request.url for request in requests],
        )
        await context.add_requests(requests)

    began = time.perf_counter()
    await crawler.run([url])
    return time.perf_counter() - began


def main() -> None:
    url, places, chromium, file = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    logging.disable(logging.WARNING)
    with Lines(file) as lines:
        with Usage(lambda: [os.getpid()]) as usage:
            seconds = asyncio.run(crawl(url, places, chromium, lines))
        print(lines.report(seconds, usage.cpu_seconds, usage.peak_bytes))


if __name__ == "__main__":
    main()
