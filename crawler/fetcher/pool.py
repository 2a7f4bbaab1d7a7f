"""Keep-alive connections of slices that have ended, for the next slice of the same host.

Setting up a connection takes up to three round trips, as long as a few pages. Each connection keeps its slot of the
host limiter, so that a host never has too many connections; it is kept briefly, because the slot blocks others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable

import msgspec
from msgspec.structs import replace
from redis.exceptions import RedisError

from crawler.frontier.host_limiter import HostLimiter
from crawler.frontier.inspect import crawl_of, holder_name
from crawler.http.client import HttpFetcher

log = logging.getLogger(__name__)

MAX_IDLE_S = 0.1  # idle connections are closed after this while the job runs
MAX_CONNECTIONS = 32  # idle at a time; one for each slice that has just ended


class PooledConnection(msgspec.Struct, frozen=True):
    fetcher: HttpFetcher
    limiter: HostLimiter
    host: str
    holder: str  # of the slot
    since: float = msgspec.field(default_factory=time.monotonic)

    def close(self) -> None:
        self.fetcher.close()
        try:
            self.limiter.release_slot(self.host, self.holder)
        except RedisError as error:  # the slot expires by itself
            log.warning("Redis did not record that a connection to %s is closed: %s", self.host, error)

    def transferred_to(self, crawl: str) -> PooledConnection:
        """The same connection under a holder name of the crawl that uses it from now on. If another slice takes the
        slot in between, the connection is closed."""
        if crawl_of(self.holder) == crawl:
            return self
        try:
            self.limiter.release_slot(self.host, self.holder)
        except RedisError:
            self.fetcher.close()
            raise
        batch, number = self.holder.split(":")[-2:]
        return replace(self, holder=holder_name(crawl, batch, number))


class ConnectionPool:
    """A slice's `terms` are everything its requests depend on besides their URLs."""

    outlasts_jobs = False  # whether the worker closes idle connections when there is no further job

    def __init__(self) -> None:
        self._idle: dict[Hashable, list[PooledConnection]] = {}

    def put(self, terms: Hashable, pooled: PooledConnection) -> None:
        if sum(map(len, self._idle.values())) >= MAX_CONNECTIONS:
            pooled.close()
        else:
            self._idle.setdefault(terms, []).append(pooled)

    def for_crawl(self, crawl: str) -> ConnectionPool:
        """A view for the slices of one crawl: connections it takes are transferred to that crawl."""
        return _CrawlPool(self, crawl)

    def take(self, terms: Hashable) -> PooledConnection | None:
        """A connection that belongs to the caller from now on, or None."""
        same = self._idle.get(terms)
        pooled = same.pop() if same else None
        if not same:
            self._idle.pop(terms, None)
        return pooled

    def close_idle(self, older_than: float = 0.0) -> None:
        """Close connections that were idle for so many seconds."""
        until = time.monotonic() - older_than
        old = [pooled for same in self._idle.values() for pooled in same if pooled.since <= until]
        left = {terms: [pooled for pooled in same if pooled.since > until] for terms, same in self._idle.items()}
        self._idle = {terms: same for terms, same in left.items() if same}
        for pooled in old:
            pooled.close()


class _CrawlPool(ConnectionPool):
    def __init__(self, pool: ConnectionPool, crawl: str) -> None:
        super().__init__()
        self._pool, self._crawl = pool, crawl

    def put(self, terms: Hashable, pooled: PooledConnection) -> None:
        self._pool.put(terms, pooled)

    def take(self, terms: Hashable) -> PooledConnection | None:
        pooled = self._pool.take(terms)
        return None if pooled is None else pooled.transferred_to(self._crawl)
