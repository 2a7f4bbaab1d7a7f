"""What a tick works with: one crawl, its frontier, and the time."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import msgspec

from crawler import clock
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness import host_rules
from crawler.core.politeness.host_rules import ONE_BY_ONE, Pace
from crawler.core.protocol import retries
from crawler.core.protocol.lanes import slot_lane_of
from crawler.core.urls.normalise import host_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_state import HostState, HostStates
from crawler.frontier.ready_queue import QueueItem
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.storage.queries import OpenPage


class TickContext(msgspec.Struct, frozen=True):
    crawl: Crawl
    options: CrawlOptions
    frontier: Frontier

    @property
    def id(self) -> UUID:
        return self.crawl.id

    @property
    def collector(self) -> int:
        """The number of the collector whose tick this is. The first one also recovers, dispatches and finishes."""
        return self.frontier.keys.collector

    def now(self) -> float:
        return self.frontier.now()


def queue_item(page: OpenPage, options: CrawlOptions) -> QueueItem:
    """An open page as an item of the ready queue, in its lane of its host."""
    suffix, _ = slot_lane_of(options, page.kind, page.lane_reason)
    lane = retries.lane_of(host_of(page.url), is_suspect=bool(page.died_with), deaths=page.deaths, suffix=suffix)
    return QueueItem(page.id, lane, page.waits_until, page.priority)


def update_paces(context: TickContext, hosts: Iterable[str]) -> None:
    """Set the pace at which pages of these hosts are handed out."""
    names = sorted(set(hosts))
    if not names:
        return
    known, silent = (
        HostStates(context.frontier.redis).read(names, context.now()),
        context.frontier.unresponsive_hosts.among(names),
    )
    paces = {host: _pace(context.options, state) for host, state in known.items() if _was_asked(state)}
    context.frontier.ready_queue.set_paces(paces | dict.fromkeys(silent, ONE_BY_ONE))


def _was_asked(state: HostState) -> bool:
    return state.has_answered or state.throttle.failures > 0


def _pace(options: CrawlOptions, state: HostState) -> Pace:
    delay = host_rules.chosen_delay(options.delay, options.per_minute)
    if options.obey_robots:
        delay = host_rules.host_delay(delay, state.crawl_delay)
    connections, is_passing = options.concurrency, options.throttle and state.throttle.delay > delay
    if options.throttle:
        delay = max(delay, state.throttle.delay)
        if not state.throttle.is_starting:  # else there will soon be more, and the pages must not all be dealt by then
            connections = state.throttle.allowed(connections)
    return host_rules.pace_of(
        delay, connections, state.response_s, has_answered=state.has_answered, is_passing=is_passing
    )


def context_of(crawl: Crawl, collector: int = 0) -> TickContext:
    options, redis = crawl.chosen, queues.connection()
    usual = _pace(options, HostState())
    frontier = Frontier(redis, str(crawl.id), default_pace=usual, clock=clock.epoch_seconds, collector=collector)
    return TickContext(crawl, options, frontier)
