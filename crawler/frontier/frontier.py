"""All of one crawl's state in Redis behind one object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import cast

from redis import Redis

from crawler import registry
from crawler.clock import Clock, epoch_seconds
from crawler.core.politeness.host_rules import ONE_BY_ONE, Pace
from crawler.core.protocol.completion import QueueSide
from crawler.core.protocol.counters import Watermark
from crawler.frontier.host_state import UnresponsiveHosts
from crawler.frontier.keys import CRAWLS, CrawlKeys
from crawler.frontier.leases import Lease, Leases
from crawler.frontier.queue_changes import QueueChanges
from crawler.frontier.ready_queue import QueueItem, ReadyQueue
from crawler.frontier.results import Results
from crawler.frontier.seen_set import DeadLetters, SeenSet

DELETED_TTL_S = 24 * 3600
WATERMARK_TTL_S = 30 * 24 * 3600  # workers of an earlier version, which may end the crawl, do not delete it
_BEING_DELETED, _DELETED = b"1", b"done"


class Frontier:
    """`default_pace` says how much of a host is handed out at a time, unless the host has a pace of its own. `results`
    belong to one `collector`."""

    def __init__(
        self,
        redis: Redis,
        crawl: str,
        *,
        default_pace: Pace = ONE_BY_ONE,
        clock: Clock | None = None,
        collector: int = 0,
    ) -> None:
        self.redis, self.keys = redis, CrawlKeys(crawl, collector)
        self.now = clock or epoch_seconds
        self.seen = SeenSet(redis, self.keys.seen)
        self.ready_queue = ReadyQueue(redis, self.keys, default_pace)
        self.queue_changes = QueueChanges(redis, self.keys, default_pace)
        self.leases = Leases(redis, self.keys, default_pace)
        self.results = Results(redis, self.keys)
        self.dead_letters = DeadLetters(redis, self.keys)
        self.unresponsive_hosts = UnresponsiveHosts(redis, self.keys)

    def queue_side(self) -> QueueSide:
        """The first completion check, read in one step. A collector other than the first that is wanted or at work
        will have a tick sent when it is done, so the crawl is dirty."""
        first, *others = self.keys.of_all_collectors()
        with self.redis.pipeline() as pipe:
            pipe.zcard(self.keys.leases)
            pipe.exists(first.mark, *chain.from_iterable((keys.mark, keys.lock) for keys in others))
            for keys in (first, *others):
                pipe.llen(keys.results)
            for lane in first.of_suffixes():
                pipe.zcard(lane.hosts)
            leases, dirty, *counts = cast(list[int], pipe.execute())
        results, hosts = counts[: 1 + len(others)], counts[1 + len(others) :]
        return QueueSide(results=sum(results), leases=leases, hosts=sum(hosts), dirty=bool(dirty))

    def collectors_with_results(self) -> set[int]:
        """The numbers of the collectors that have reports to process."""
        with self.redis.pipeline(transaction=False) as pipe:
            for keys in self.keys.of_all_collectors():
                pipe.llen(keys.results)
            return {number for number, reports in enumerate(pipe.execute()) if reports}

    def reclaim(self, lease: Lease, still_open: Iterable[QueueItem]) -> None:
        """End the lease of a dead worker and enqueue its open pages again, in one step."""
        with self.redis.pipeline() as pipe:
            for number, (host, _) in lease.slices.items():
                self.leases.complete_slice(lease.batch, lease.token, number, host, (), 0, pipe)
            self.ready_queue.enqueue(still_open, pipe)
            pipe.execute()

    def requeue_dead_letters(self, pages: Sequence[int] | None) -> None:
        """Dead letters (these, or all) were reopened in the table: rewind the queue, so that they are enqueued."""
        if pages is None:
            self.redis.delete(self.keys.dead)
        else:
            self.dead_letters.remove(pages)
            self.dead_letters.persist()
        self.unresponsive_hosts.clear()
        self.redis.delete(self.keys.met, self.keys.closing)
        self.ready_queue.rewind()

    def deferred_close_at(self, discovered: int, at: float) -> float:
        """Only pages with a Retry-After are left: epoch seconds when they close. The first call sets it to `at`; it
        stays until the crawl has discovered more pages."""
        known = cast(bytes | None, self.redis.get(self.keys.closing))
        if known is not None and known.split()[1] == str(discovered).encode():
            return float(known.split()[0])
        self.redis.set(self.keys.closing, f"{at:.3f} {discovered}", ex=24 * 3600)
        return at

    def known_close_at(self) -> float | None:
        """Epoch seconds when those pages close; None while others are left."""
        known = cast(bytes | None, self.redis.get(self.keys.closing))
        return float(known.split()[0]) if known is not None else None

    def clear_close_at(self) -> None:
        """Other pages are left to fetch."""
        self.redis.delete(self.keys.closing)

    def mark_paused(self) -> None:
        """The crawl is paused: batches that are handed out end early. The key expires when none can be left, so a
        resume that dies before `clear_paused` does no harm."""
        self.redis.set(self.keys.paused, 1, ex=60)

    def clear_paused(self) -> None:
        """The crawl is not paused any more."""
        self.redis.delete(self.keys.paused)

    def is_paused(self) -> bool:
        return bool(self.redis.exists(self.keys.paused))

    def needs_early_results(self) -> bool:
        """Whether results decide which pages are requested, so that slices are short."""
        return bool(self.redis.exists(self.keys.early_results))

    def mark_deleted(self) -> None:
        """The crawl is being deleted: for a day late results are dropped, and `reconcile` completes the deletion."""
        self.redis.set(self.keys.deleted, _BEING_DELETED, ex=DELETED_TTL_S)
        self.redis.sadd(CRAWLS, self.keys.crawl)

    def delete(self) -> None:
        """The crawl's rows are deleted: delete all its keys."""
        self.clear()
        with self.redis.pipeline() as pipe:
            pipe.delete(self.keys.dead)
            pipe.srem(CRAWLS, self.keys.crawl)
            pipe.set(self.keys.deleted, _DELETED, ex=DELETED_TTL_S)
            pipe.execute()

    def is_marked_deleted(self) -> bool:
        """Whether it is being deleted, or was in the last day."""
        return bool(self.redis.exists(self.keys.deleted))

    def is_being_deleted(self) -> bool:
        """Whether its deletion was begun and is not complete. A crawl whose deletion is complete is in the table again
        if a backup was restored; it stays."""
        return self.redis.get(self.keys.deleted) == _BEING_DELETED

    def note_rows(self, watermark: Watermark, seen_keys: Sequence[bytes]) -> None:
        """The table has come as far as this, and has the rows of these keys."""
        with self.redis.pipeline(transaction=False) as pipe:
            self.note_watermark(watermark, pipe)  # first: it is never behind the seen-set
            self.seen.add(seen_keys, pipe)
            pipe.execute()

    def note_watermark(self, watermark: Watermark, redis: Redis | None = None) -> None:
        """The table has come as far as this; called before the seen-set learns of its rows."""
        redis = redis if redis is not None else self.redis
        redis.set(self.keys.watermark, f"{watermark.newest_row} {watermark.requests}", ex=WATERMARK_TTL_S)

    def noted_watermark(self) -> Watermark | None:
        """How far the table had come at the last commit that was noted."""
        noted = cast(bytes | None, self.redis.get(self.keys.watermark))
        return Watermark(*map(int, noted.split())) if noted is not None else None

    def forget_table(self) -> None:
        """The table is another one: delete what refers to its rows. The watermark is deleted last, so that it is
        done again if this process dies meanwhile."""
        self.ready_queue.clear()
        self.seen.clear()
        self.redis.unlink(self.keys.closing, self.keys.dead, *self._of_capabilities(), self.keys.watermark)

    def _of_capabilities(self) -> list[str]:
        return [self.keys.of(name) for name in registry.entries("crawl_keys", str)]

    def clear(self) -> None:
        """Delete all keys of this crawl but its dead letters, which expire separately."""
        self.ready_queue.clear()
        keys = self.keys
        self.seen.clear()
        unused = [keys.tick, keys.silent, keys.paused, keys.met, keys.closing, keys.watermark, keys.proxies]
        unused += [keys.slowed, keys.early_results, *self._of_capabilities()]
        self.redis.unlink(*unused, *chain.from_iterable((keys.results, keys.mark) for keys in keys.of_all_collectors()))
        if not self.is_being_deleted():  # otherwise its deletion is not complete
            self.redis.srem(CRAWLS, keys.crawl)
