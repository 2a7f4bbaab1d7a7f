"""Counts of one crawl's pages by outcome, and the pages that closed last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec

from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.retries import is_dead_letter


class Tallies(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages were discovered, and how many closed with which outcome and status."""

    discovered: int = 0
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)  # Outcome value -> closed pages
    statuses: dict[str, int] = msgspec.field(default_factory=dict)  # HTTP status -> closed pages

    @property
    def closed(self) -> int:
        return sum(self.outcomes.values())

    @property
    def open(self) -> int:
        return self.discovered - self.closed

    @property
    def asked(self) -> int:
        """Closed pages that were requested at least once; what the page limit counts."""
        return self.in_category(Category.FETCHED) + self.in_category(Category.FAILED)

    def number_of(self, outcomes: Iterable[Outcome]) -> int:
        return sum(self.outcomes.get(outcome, 0) for outcome in outcomes)

    def in_category(self, category: Category) -> int:
        return self.number_of(outcome for outcome in Outcome if outcome.category is category)

    def skipped(self) -> dict[str, int]:
        """Reason -> pages, in the order of the reasons' names."""
        return {
            value: count
            for value, count in sorted(self.outcomes.items())
            if count and Outcome(value).category is Category.SKIPPED
        }

    def plus(
        self,
        *,
        discovered: int = 0,
        outcomes: Mapping[str, int] | None = None,
        statuses: Mapping[str, int] | None = None,
    ) -> Tallies:
        return Tallies(
            discovered=self.discovered + discovered,
            outcomes=_added(self.outcomes, outcomes or {}),
            statuses=_added(self.statuses, statuses or {}),
        )


def _added(old: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(old) + Counter(more)).items()))


def tallied(rows: Iterable[tuple[str, int | None, int]]) -> Tallies:
    """Tallies from groups of rows: (outcome or "" while open, HTTP status, pages)."""
    discovered = 0
    outcomes: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for outcome, http_status, pages in rows:
        discovered += pages
        if not outcome:
            continue
        outcomes[outcome] += pages
        if http_status is not None:
            statuses[str(http_status)] += pages
    return Tallies(
        discovered=discovered, outcomes=dict(sorted(outcomes.items())), statuses=dict(sorted(statuses.items()))
    )


class Watermark(NamedTuple):
    """How far a crawl has come in the table. The numbers only grow, unless the database is replaced by an older one."""

    newest_row: int  # highest id of its page rows; 0 = it has none
    requests: int

    def is_behind(self, noted: Watermark) -> bool:
        return self.newest_row < noted.newest_row or self.requests < noted.requests


def adds_up(receipt: Mapping[str, Any]) -> bool:
    """Whether discovered = fetched + failed + skipped + cancelled."""
    parts = receipt["fetched"] + receipt["failed"] + sum(receipt["skipped"].values()) + receipt["cancelled"]
    return bool(receipt["discovered"] == parts)


# The pages of a crawl that closed last: a few ids on the crawl's row, so that no query has to find them among a million
# pages while the crawl runs.

RECENT_PAGES = 12  # in each list

Recent = Mapping[str, Sequence[int]]
"""List -> ids of pages, the newest first; plain for a JSON column.

closed     the pages that were requested and closed last
troubled   of these the errors, without dead letters, which have a list of their own
"""


def with_closed(recent: Recent, results: Sequence[PageResult]) -> dict[str, list[int]]:
    """The lists after these pages were closed in this order."""
    newest_first = [result for result in reversed(results) if result.fetched_at > 0]
    troubled = (result for result in newest_first if result.outcome.is_error and not is_dead_letter(result))
    return {
        "closed": _first(newest_first, recent.get("closed", ())),
        "troubled": _first(troubled, recent.get("troubled", ())),
    }


def _first(results: Iterable[PageResult], before: Sequence[int]) -> list[int]:
    """The newest, each once: a dead letter that is retried closes a second time."""
    ids = chain((result.id for result in results), before)
    return list(islice(dict.fromkeys(ids), RECENT_PAGES))
