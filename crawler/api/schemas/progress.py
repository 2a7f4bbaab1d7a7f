"""The figures of a crawl, as the API shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.core.protocol import progress
from crawler.models import Crawl
from crawler.reports.progress import Breakdown


class Pace(Schema):
    at: datetime
    rate: float = Field(description="Pages closed per second since the previous point.")


class HostLine(Schema):
    name: str
    pages: int
    open: int
    errors: int = Field(description="Pages that failed or returned an error status.")
    bytes: int
    elapsed_ms: int = Field(description="The average response time.")


class Rates(Schema):
    """Pages a minute."""

    pages_in: float = Field(description="Discovered, added, or opened again.")
    pages_out: float = Field(description="Closed.")
    retried: float = Field(description="Attempts after the first, and pages that users requested again.")
    dead: float = Field(description="Pages that became dead letters.")


class RatesOfWindows(Schema):
    """Null in a crawl's first seconds, and when it is over."""

    last_minute: Rates | None
    last_five_minutes: Rates | None


class QueueShown(Schema):
    """The figures of a crawl's queue."""

    open: int = Field(description="Pages without an outcome.")
    dead_letters: int
    oldest_due_seconds: float | None = Field(
        description="Seconds that the oldest undispatched page has been due; null without such a page."
    )
    per_minute: RatesOfWindows


class Figures(Schema):
    pace: list[Pace]
    statuses: dict[str, int] = Field(description="HTTP status -> pages.")
    outcomes: dict[str, int] = Field(description="Outcome -> pages.")
    depths: dict[int, int] | None = Field(description="Links from a start URL -> pages; null while they are counted.")
    hosts: list[HostLine] | None = Field(description="The hosts with the most pages, at most 20.")
    has_more_hosts: bool | None
    counted_at: datetime | None = Field(description="When depths and hosts were counted.")


def figures_of(crawl: Crawl, counted: Breakdown | None) -> dict[str, Any]:
    return {
        "pace": [{"at": _moment(at), "rate": rate} for at, rate in progress.pace(crawl.samples)],
        "statuses": crawl.tallies.statuses,
        "outcomes": crawl.tallies.outcomes,
        "depths": counted and counted.depths,
        "hosts": counted and counted.hosts,
        "has_more_hosts": counted and counted.has_more_hosts,
        "counted_at": counted and _moment(counted.made_at),
    }


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


QUEUE_EXAMPLE: dict[str, Any] = {
    "open": 240,
    "dead_letters": 3,
    "oldest_due_seconds": 4.2,
    "per_minute": {
        "last_minute": {"pages_in": 310.0, "pages_out": 290.5, "retried": 2.0, "dead": 1.0},
        "last_five_minutes": {"pages_in": 280.2, "pages_out": 240.0, "retried": 1.2, "dead": 0.6},
    },
}

EXAMPLE: dict[str, Any] = {
    "pace": [{"at": "2026-11-21T10:00:01Z", "rate": 80.0}],
    "statuses": {"200": 117, "404": 1},
    "outcomes": {"2xx": 117, "4xx": 1, "robots": 1, "timeout": 1},
    "depths": {"0": 1, "1": 40, "2": 79},
    "hosts": [{"name": "example.com", "pages": 120, "open": 0, "errors": 2, "bytes": 1_600_000, "elapsed_ms": 41}],
    "has_more_hosts": False,
    "counted_at": "2026-11-21T10:00:02Z",
}
