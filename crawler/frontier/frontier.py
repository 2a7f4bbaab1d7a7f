"""All of one crawl's working memory in Redis under one name."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from redis import Redis

from crawler.core.completion import QueueSide
from crawler.frontier.clock import Clock, redis_clock
from crawler.frontier.dead import DeadLetters
from crawler.frontier.keys import CRAWLS, CrawlKeys
from crawler.frontier.leases import Leases
from crawler.frontier.results import Results
from crawler.frontier.seen import SeenSet
from crawler.frontier.window import Window


class Frontier:
    """`slices_at_once(host)` says how many slices of a host may be handed out at a time; only the manager needs it."""

    def __init__(
        self,
        redis: Redis,
        crawl: str,
        *,
        slices_at_once: Callable[[str], int] = lambda host: 1,
        clock: Clock | None = None,
    ) -> None:
        self.redis, self.keys = redis, CrawlKeys(crawl)
        self.now = clock or redis_clock(redis)
        self.seen = SeenSet(redis, self.keys)
        self.window = Window(redis, self.keys, slices_at_once)
        self.leases = Leases(redis, self.keys, slices_at_once)
        self.results = Results(redis, self.keys)
        self.dead = DeadLetters(redis, self.keys)

    def queue_side(self) -> QueueSide:
        """The first completion check, read in one step."""
        with self.redis.pipeline() as pipe:
            pipe.llen(self.keys.results)
            pipe.zcard(self.keys.leases)
            pipe.zcard(self.keys.hosts)
            pipe.exists(self.keys.mark)
            results, leases, hosts, dirty = cast(list[int], pipe.execute())
        return QueueSide(results=results, leases=leases, hosts=hosts, dirty=bool(dirty))

    def clear(self) -> None:
        """Leave nothing of this crawl in Redis but its dead letters, which have a time of their own."""
        self.window.forget()
        keys = self.keys
        self.redis.unlink(keys.seen, keys.results, keys.mark, keys.tick)
        self.redis.srem(CRAWLS, keys.crawl)
