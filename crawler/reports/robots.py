"""What is remembered of the robots.txt files a crawl began with."""

from __future__ import annotations

from typing import Any

from redis import Redis, RedisError

from crawler import queues
from crawler.core.errors import ServiceDown
from crawler.core.urls import origin_of
from crawler.frontier.robots import RobotsMemory
from crawler.models import Crawl

SHOWN = 20  # origins


def memory_of(redis: Redis, crawl: Crawl) -> RobotsMemory:
    """The memory of robots.txt files that a crawl uses."""
    return RobotsMemory.of(redis, str(crawl.id), sealed=crawl.sealed, private_hosts=crawl.chosen.private_hosts)


def robots_of(crawl: Crawl) -> list[dict[str, Any]] | None:
    """For each origin of the start URLs whose file was asked for lately: `origin`, `status` (None = not to be had),
    `oddity` (what is odd about it; "" = nothing) and `error`. None when Redis does not answer."""
    if not crawl.chosen.obey_robots:
        return []
    origins = list(dict.fromkeys(map(origin_of, crawl.start_urls)))[:SHOWN]
    try:
        memory = memory_of(queues.connection(), crawl)
        memos = [(origin, memory.get(origin)) for origin in origins]
    except (ServiceDown, RedisError):
        return None
    return [
        {"origin": origin, "status": memo.status, "oddity": memo.oddity, "error": memo.error}
        for origin, memo in memos
        if memo is not None
    ]


def oddities(files: list[dict[str, Any]] | None) -> list[str]:
    """What `robots_of` found odd, as sentences."""
    return [f"{file['origin']}/robots.txt: {file['oddity']}." for file in files or () if file["oddity"]]
