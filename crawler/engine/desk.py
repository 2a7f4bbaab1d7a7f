"""What a tick works with: one crawl, its frontier, and the time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from uuid import UUID

from crawler import conf, queues
from crawler.core import politeness, suspects
from crawler.core.options import CrawlOptions
from crawler.core.urls import host_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.gate import Gate
from crawler.frontier.leases import LEASE_SECONDS
from crawler.frontier.window import Waiting
from crawler.models import Crawl
from crawler.pages import OpenPage


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
    """How many pages and slices of a host, or of a lane of it, to hand out, by the delay it asks for; each host is
    looked up once a tick."""

    def __init__(self, options: CrawlOptions, gate: Gate) -> None:
        self._concurrency = options.concurrency
        self._delay = cache(lambda host: politeness.host_delay(options.delay, gate.crawl_delay(host)))

    def slices_at_once(self, lane: str) -> int:
        return politeness.slices_at_once(self._delay(suspects.host_of(lane)), self._concurrency)

    def slice_pages(self, lane: str) -> int:
        pages = politeness.slice_pages(self._delay(suspects.host_of(lane)))
        return min(pages, suspects.company(lane) or pages)


def waiting(page: OpenPage) -> Waiting:
    """An open page as the window keeps it, in its lane of its host."""
    lane = suspects.lane_of(
        host_of(page.url), deaths=page.deaths, attempts=page.attempts, max_attempts=conf.max_attempts()
    )
    return Waiting(page.id, lane, page.due_at)


def desk_of(crawl: Crawl) -> Desk:
    options, redis = crawl.chosen, queues.connection()
    pace = Pace(options, Gate(redis, LEASE_SECONDS))
    return Desk(crawl, options, Frontier(redis, str(crawl.id), slices_at_once=pace.slices_at_once), pace)
