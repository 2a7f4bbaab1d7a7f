"""The counters of a crawl: one transaction collects its changes and writes them to the crawl's row at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from uuid import UUID

from django.db import transaction

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import LIMITS_OF, Limit, presumed_limits
from crawler.core.protocol.counters import with_closed
from crawler.core.protocol.flow import Flow, with_change
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.progress import with_sample
from crawler.models import Crawl
from crawler.storage import sql

COUNTER_FIELDS = (
    *("discovered", "outcomes", "statuses", "limits", "requests", "bytes", "kept_bytes", "retries"),
    *("samples", "flow", "priorities", "recent"),
)
"""Columns of the crawl's row that a transaction updates."""


@dataclass
class CounterChange:
    """The changes of the counters by one transaction."""

    discovered: int = 0
    requests: int = 0
    bytes: int = 0
    kept_bytes: int = 0
    retries: int = 0
    closed: int = 0
    reopened: int = 0
    dead_letters: int = 0  # of the closed
    requested: int = 0  # closed pages that were requested: they count against the owner's daily quota
    outcomes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    limits: Counter[str] = field(default_factory=Counter)  # Limit -> pages it closed
    limits_before: Mapping[str, int] = field(default_factory=dict)  # the crawl's, when the transaction began
    priorities: set[int] = field(default_factory=set)  # of the pages that were opened
    results: list[PageResult] = field(default_factory=list)  # those that closed pages, in their order
    new_urls: dict[int, str] = field(default_factory=dict)  # of these pages, but no sitemaps, and none closed before

    @property
    def new_results(self) -> dict[str, PageResult]:
        """URL -> result of pages that had no response before, in the order of their discovery: from the same page again
        nothing is learnt about others."""
        news = sorted((result for result in self.results if result.id in self.new_urls), key=attrgetter("id"))
        return {self.new_urls[result.id]: result for result in news}

    def count_closed(
        self, outcome: Outcome, pages: int = 1, http_status: int | None = None, limit: Limit | None = None
    ) -> None:
        self.outcomes[outcome.value] += pages
        self.closed += pages
        if outcome.category.is_requested:
            self.requested += pages
        if http_status is not None:
            self.statuses[str(http_status)] += pages
        if limit is not None:
            self.limits[limit] += pages

    def count_requests(self, result: PageResult) -> None:
        self.requests += result.requests
        self.bytes += result.bytes
        self.kept_bytes += sum(place[2] for place in result.kept.values() if not isinstance(place, str))

    def count_reopened(self, outcome: str, http_status: int | None, pages: int, limit: str | None = None) -> None:
        """`limit` is the one that closed them; None = none, or their rows do not name it."""
        self.outcomes[outcome] -= pages
        self.reopened += pages
        if http_status is not None:
            self.statuses[str(http_status)] -= pages
        if outcome in LIMITS_OF:
            counted = Counter(self.limits_before)
            counted.update(self.limits)
            self.limits.subtract({limit: pages} if limit else presumed_limits(outcome, pages, counted))


@contextmanager
def change_of(crawl: UUID, now: float) -> Iterator[tuple[Crawl, CounterChange]]:
    """One transaction with the crawl's row locked; at its end the crawl's counters are updated."""
    with transaction.atomic():
        row = Crawl.objects.select_for_update().get(id=crawl)
        change = CounterChange(limits_before=row.limits)
        yield row, change
        _add(row, change, now)


def _add(crawl: Crawl, change: CounterChange, now: float) -> None:
    """Add the changes of this transaction to the crawl's row, which is locked until it ends."""
    tallies = crawl.tallies.plus(discovered=change.discovered, outcomes=change.outcomes, statuses=change.statuses)
    crawl.discovered, crawl.outcomes, crawl.statuses = tallies.discovered, tallies.outcomes, tallies.statuses
    limits = Counter(crawl.limits)
    limits.update(change.limits)
    crawl.limits = {limit: limits[limit] for limit in Limit if limits[limit] > 0}
    crawl.requests += change.requests
    crawl.bytes += change.bytes
    crawl.kept_bytes += change.kept_bytes
    crawl.retries += change.retries
    crawl.samples = with_sample(crawl.samples, now, tallies.discovered, tallies.closed, tallies.asked)
    flow = Flow(change.discovered + change.reopened, change.closed, change.retries, change.dead_letters)
    if flow != Flow():
        crawl.flow = with_change(crawl.flow or (), crawl.created_at.timestamp(), now, flow)
    crawl.priorities = sorted(change.priorities.union(crawl.priorities), reverse=True)
    crawl.recent = with_closed(crawl.recent, change.results)
    crawl.save(update_fields=COUNTER_FIELDS)
    if change.requested and crawl.owner_id is not None:
        sql.add(crawl.owner_id, change.requested, now)
