"""Changes of the ready queue at a user's request: pages that are added again move in it, and those beyond a lower limit
leave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from redis import Redis

from crawler.core.politeness.host_rules import Pace
from crawler.frontier import scripts
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.ready_queue import QueueItem, encode_member


class QueueChanges:
    """Of one crawl; it has the parameters of `ReadyQueue`."""

    def __init__(self, redis: Redis, keys: CrawlKeys, default_pace: Pace) -> None:
        self._redis, self._keys, self._default_pace = redis, keys, default_pace

    def move(self, pages: Iterable[tuple[QueueItem, int]]) -> None:
        """Give pages that wait the due time and the priority of their item; each is in the queue with the priority
        beside it. Pages that do not wait are skipped."""
        usual = [self._default_pace.slices, self._default_pace.pages]
        with self._redis.pipeline(transaction=False) as pipe:
            for page, before in pages:
                members = [encode_member(page.id, before), encode_member(page.id, page.priority), page.due]
                scripts.run(pipe, "move", self._keys.of_lane(page.host), [page.host, *usual, *members])
            pipe.execute()

    def take_back(self) -> None:
        """Delete the waiting pages, but not batches that are handed out; the table enqueues them again."""
        keys = self._keys
        kinds = keys.of_suffixes()
        lanes = cast(set[bytes], self._redis.sunion([kind.known_hosts for kind in kinds]))
        waiting = [key for kind in kinds for key in (kind.hosts, kind.known_hosts, kind.weights, kind.waiting)]
        self._redis.unlink(keys.cursor, *waiting, *(keys.queue(lane.decode()) for lane in lanes))

    def handed_out_among(self, pages: Iterable[tuple[int, int]]) -> set[int]:
        """Those of these pages (id, priority) that are handed out and not complete."""
        named = list(pages)
        with self._redis.pipeline(transaction=False) as pipe:
            for page, priority in named:
                pipe.sismember(self._keys.taken, encode_member(page, priority))
            return {page for (page, _), is_out in zip(named, pipe.execute(), strict=True) if is_out}
