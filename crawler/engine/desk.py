"""What a tick works with: one crawl, its frontier, and the time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from uuid import UUID

from crawler import queues
from crawler.core import politeness
from crawler.core.options import CrawlOptions
from crawler.frontier.frontier import Frontier
from crawler.frontier.gate import Gate
from crawler.frontier.leases import LEASE_SECONDS
from crawler.models import Crawl


@dataclass(frozen=True)
class Desk:
    crawl: Crawl
    options: CrawlOptions
    frontier: Frontier
    pace: Pace

    @property
    def id(self) -> UUID:
        return self.crawl.id

    def now(self) -> float:
        return self.frontier.now()


class Pace:
    """How many pages and slices of a host to hand out, by the delay it asks for; each host is looked up once a tick."""

    def __init__(self, options: CrawlOptions, gate: Gate) -> None:
        self._concurrency = options.concurrency
        self._delay = cache(lambda host: politeness.host_delay(options.delay, gate.crawl_delay(host)))

    def slices_at_once(self, host: str) -> int:
        return politeness.slices_at_once(self._delay(host), self._concurrency)

    def slice_pages(self, host: str) -> int:
        return politeness.slice_pages(self._delay(host))


def desk_of(crawl: Crawl) -> Desk:
    options, redis = crawl.chosen, queues.connection()
    pace = Pace(options, Gate(redis, LEASE_SECONDS))
    return Desk(crawl, options, Frontier(redis, str(crawl.id), slices_at_once=pace.slices_at_once), pace)
