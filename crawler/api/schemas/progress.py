"""The figures of a crawl, as the API shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.core.crawl import progress
from crawler.models import Crawl
from crawler.reports.progress import Breakdown


class Pace(Schema):
    at: datetime
    rate: float = Field(description="Pages closed a second since the moment before.")


class HostLine(Schema):
    name: str
    pages: int
    open: int
    errors: int = Field(description="Failed, or answered with an error status.")
    bytes: int
    elapsed_ms: int = Field(description="Of an answer, on average.")


class Figures(Schema):
    pace: list[Pace]
    statuses: dict[str, int] = Field(description="HTTP status -> pages.")
    outcomes: dict[str, int] = Field(description="Outcome -> pages.")
    depths: dict[int, int] | None = Field(description="Links from a start URL -> pages; null while they are counted.")
    hosts: list[HostLine] | None = Field(description="Those with the most pages, 20 at most.")
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


EXAMPLE: dict[str, Any] = {
    "pace": [{"at": "2026-11-21T10:00:01Z", "rate": 80.0}],
    "statuses": {"200": 117, "404": 1},
    "outcomes": {"2xx": 117, "4xx": 1, "robots": 1, "timeout": 1},
    "depths": {"0": 1, "1": 40, "2": 79},
    "hosts": [{"name": "example.com", "pages": 120, "open": 0, "errors": 2, "bytes": 1_600_000, "elapsed_ms": 41}],
    "has_more_hosts": False,
    "counted_at": "2026-11-21T10:00:02Z",
}
