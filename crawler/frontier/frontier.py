"""All of one crawl's working memory in Redis under one name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from redis import Redis

from crawler.clock import Clock, epoch_seconds
from crawler.core.crawl.completion import QueueSide
from crawler.core.crawl.politeness import ONE_BY_ONE, Pace
from crawler.frontier.dead_letters import DeadLetters
from crawler.frontier.keys import CRAWLS, CrawlKeys
from crawler.frontier.leases import Lease, Leases
from crawler.frontier.ready_queue import Waiting, Window
from crawler.frontier.results import Results
from crawler.frontier.seen_set import SeenSet
from crawler.frontier.unresponsive_hosts import Silences


class Frontier:
    """`usual` says how much of a host is handed out at a time, unless it has a pace of its own."""

    def __init__(
        self,
        redis: Redis,
        crawl: str,
        *,
        usual: Pace = ONE_BY_ONE,
        clock: Clock | None = None,
    ) -> None:
        self.redis, self.keys = redis, CrawlKeys(crawl)
        self.now = clock or epoch_seconds
        self.seen = SeenSet(redis, self.keys.seen)
        self.window = Window(redis, self.keys, usual)
        self.leases = Leases(redis, self.keys, usual)
        self.results = Results(redis, self.keys)
        self.dead = DeadLetters(redis, self.keys)
        self.silences = Silences(redis, self.keys)

    def queue_side(self) -> QueueSide:
        """The first completion check, read in one step."""
        with self.redis.pipeline() as pipe:
            pipe.llen(self.keys.results)
            pipe.zcard(self.keys.leases)
            pipe.zcard(self.keys.hosts)
            pipe.exists(self.keys.mark)
            results, leases, hosts, dirty = cast(list[int], pipe.execute())
        return QueueSide(results=results, leases=leases, hosts=hosts, dirty=bool(dirty))

    def take_back(self, lease: Lease, still_open: Iterable[Waiting]) -> None:
        """End a lease whose holder is dead; those of its pages that are open wait again, in one step."""
        with self.redis.pipeline() as pipe:
            for number, (host, _) in lease.slices.items():
                self.leases.settle(lease.batch, lease.token, number, host, (), 0, pipe)
            self.window.put(still_open, pipe)
            pipe.execute()

    def revive(self, pages: Sequence[int] | None) -> None:
        """Dead letters (these, or all) were opened again: let them flow in, wherever the window stands."""
        if pages is None:
            self.redis.delete(self.keys.dead)
        else:
            self.dead.remove(pages)
            self.dead.keep()
        self.silences.forget()
        self.redis.delete(self.keys.met, self.keys.closing)
        self.window.rewind()

    def closing_at(self, discovered: int, at: float) -> float:
        """Only pages that their servers put off are left: epoch seconds when they close. That is `at` the first time
        this is asked; it stays so until the crawl has discovered more pages."""
        known = cast(bytes | None, self.redis.get(self.keys.closing))
        if known is not None and known.split()[1] == str(discovered).encode():
            return float(known.split()[0])
        self.redis.set(self.keys.closing, f"{at:.3f} {discovered}", ex=24 * 3600)
        return at

    def closing(self) -> float | None:
        """Epoch seconds when those pages close; None while others are left."""
        known = cast(bytes | None, self.redis.get(self.keys.closing))
        return float(known.split()[0]) if known is not None else None

    def close_nothing(self) -> None:
        """Other pages are left."""
        self.redis.delete(self.keys.closing)

    def hold(self) -> None:
        """The crawl is paused: batches that are out end early. It is forgotten when none can be left, so that a resume
        which dies before it lets go costs nothing."""
        self.redis.set(self.keys.paused, 1, ex=60)

    def let_go(self) -> None:
        """The crawl is not paused any more."""
        self.redis.delete(self.keys.paused)

    def is_held(self) -> bool:
        return bool(self.redis.exists(self.keys.paused))

    def condemn(self) -> None:
        """The crawl is being deleted: for a day nothing of it that comes in late is kept, and whoever reconciles sees
        that its deletion is to be ended."""
        self.redis.set(self.keys.deleted, 1, ex=24 * 3600)
        self.redis.sadd(CRAWLS, self.keys.crawl)

    def bury(self) -> None:
        """The crawl is deleted: leave nothing of it."""
        self.clear()
        self.redis.delete(self.keys.dead)
        self.redis.srem(CRAWLS, self.keys.crawl)

    def is_condemned(self) -> bool:
        return bool(self.redis.exists(self.keys.deleted))

    def clear(self) -> None:
        """Leave nothing of this crawl in Redis but its dead letters, which have a time of their own."""
        self.window.forget()
        keys = self.keys
        self.seen.forget()
        self.redis.unlink(keys.results, keys.mark, keys.tick, keys.silent, keys.paused, keys.met, keys.closing)
        if not self.is_condemned():  # else its deletion is still to be ended
            self.redis.srem(CRAWLS, keys.crawl)
