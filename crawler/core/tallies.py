"""Counts of one crawl's pages, and the receipt made from them: one formula for table, page, command line and notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from crawler.core.outcomes import Kind, Outcome


class Tallies(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages were discovered, and how many closed in which way. Only counts rows that really changed."""

    discovered: int = 0
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)  # Outcome value -> pages closed so
    statuses: dict[str, int] = msgspec.field(default_factory=dict)  # HTTP status -> pages closed with it

    @property
    def closed(self) -> int:
        return sum(self.outcomes.values())

    @property
    def open(self) -> int:
        return self.discovered - self.closed

    @property
    def asked(self) -> int:
        """Closed pages that were asked for at least once; what the page limit counts."""
        return self.of_kind(Kind.FETCHED) + self.of_kind(Kind.FAILED)

    def of_kind(self, kind: Kind) -> int:
        return sum(count for value, count in self.outcomes.items() if Outcome(value).kind is kind)

    def skipped(self) -> dict[str, int]:
        """Reason -> pages, in the order of the reasons' names."""
        return {
            value: count
            for value, count in sorted(self.outcomes.items())
            if count and Outcome(value).kind is Kind.SKIPPED
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
    """Tallies from the table's own count: (outcome or "" while open, HTTP status, pages) per group."""
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


def adds_up(receipt: Mapping[str, Any]) -> bool:
    """Whether discovered = fetched + failed + skipped + cancelled."""
    parts = receipt["fetched"] + receipt["failed"] + sum(receipt["skipped"].values()) + receipt["cancelled"]
    return bool(receipt["discovered"] == parts)
