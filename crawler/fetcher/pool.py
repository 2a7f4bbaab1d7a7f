"""The connections of slices that have ended, kept open for the next slice of the same host.

To set up a connection takes up to three round trips, as long as a few pages. Each is kept together with its place at
its host's gate, so that a host never has more connections than it should, and for a moment only: it keeps others out.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from redis.exceptions import RedisError

from crawler.frontier.host_limiter import Gate
from crawler.frontier.inspect import crawl_of, holder_name
from crawler.http.client import HttpFetcher

log = logging.getLogger(__name__)

MOMENT = 0.1  # seconds one is kept while the worker has other things to do
AT_MOST = 32  # kept at a time; there is one for each slice that has just ended


@dataclass(frozen=True)
class Standby:
    fetcher: HttpFetcher
    gate: Gate
    host: str
    holder: str  # of the place at the gate
    since: float = field(default_factory=time.monotonic)

    def let_go(self) -> None:
        self.fetcher.close()
        try:
            self.gate.leave(self.host, self.holder)
        except RedisError as error:  # the place runs out by itself
            log.warning("Redis could not be told that a connection to %s is closed: %s", self.host, error)

    def passed_on_to(self, crawl: str) -> Standby:
        """The same under a name that tells the crawl which uses it from now on. Between the two another may take its
        place at the gate; then the connection is closed."""
        if crawl_of(self.holder) == crawl:
            return self
        try:
            self.gate.leave(self.host, self.holder)
        except RedisError:
            self.fetcher.close()
            raise
        batch, number = self.holder.split(":")[-2:]
        return replace(self, holder=holder_name(crawl, batch, number))


class Keep:
    """A slice's `terms` are all that its requests depend on beside their URLs. Used by many threads."""

    outlasts_jobs = False  # whether somebody lets go of what is kept when there is no further job

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[Standby]] = {}
        self._lock = threading.Lock()

    def give(self, terms: Hashable, kept: Standby) -> None:
        with self._lock:
            is_full = sum(map(len, self._kept.values())) >= AT_MOST
            if not is_full:
                self._kept.setdefault(terms, []).append(kept)
        if is_full:
            kept.let_go()

    def of(self, crawl: str) -> Keep:
        """The same for the slices of one crawl: what it takes is its own."""
        return _KeepOf(self, crawl)

    def take(self, terms: Hashable) -> Standby | None:
        """One that is the caller's from now on."""
        with self._lock:
            same = self._kept.get(terms)
            kept = same.pop() if same else None
            if not same:
                self._kept.pop(terms, None)
        return kept

    def let_go(self, older_than: float = 0.0) -> None:
        """Close those that nobody has wanted for so many seconds."""
        until = time.monotonic() - older_than
        with self._lock:
            old = [kept for same in self._kept.values() for kept in same if kept.since <= until]
            left = {terms: [kept for kept in same if kept.since > until] for terms, same in self._kept.items()}
            self._kept = {terms: same for terms, same in left.items() if same}
        for kept in old:
            kept.let_go()


class _KeepOf(Keep):
    def __init__(self, keep: Keep, crawl: str) -> None:
        super().__init__()
        self._keep, self._crawl = keep, crawl

    def give(self, terms: Hashable, kept: Standby) -> None:
        self._keep.give(terms, kept)

    def take(self, terms: Hashable) -> Standby | None:
        kept = self._keep.take(terms)
        return None if kept is None else kept.passed_on_to(self._crawl)
