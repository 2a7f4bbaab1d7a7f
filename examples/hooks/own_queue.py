"""Passing on: sends each page to a function of yours on an RQ queue of your own.

    CRAWLER_HOOKS=examples.hooks.own_queue.Passing
    rq worker my-pages                                  # run your own workers beside those of the crawler

The crawler does not wait for these jobs: a crawl is finished while they go on.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from redis import Redis
from rq import Queue

from crawler.hooks import PageClosed

QUEUE = "my-pages"


def work_on(page: int, url: str) -> None:
    """Your function, run by your worker. It may get a page twice."""
    with Path(os.environ.get("MY_PAGES_FILE", "my-pages.txt")).open("a") as file:
        file.write(f"{page} {url}\n")


class Passing:
    def __init__(self) -> None:
        self._queue = Queue(QUEUE, connection=Redis.from_url(settings.REDIS_URL))

    def on_closed(self, page: PageClosed) -> None:
        if page.outcome == "2xx":
            self._queue.enqueue(work_on, page.id, page.url)
