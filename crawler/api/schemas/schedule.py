"""A schedule as the API shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import Field

from crawler.api.openapi import CRAWL_ID, SCHEDULE_ID
from crawler.api.schemas.crawl import options_shown
from crawler.encryption import shown
from crawler.models import Schedule


class ScheduleWhole(Schema):
    """A crawl that is begun again and again."""

    id: UUID
    rule: str
    enabled: bool
    start_urls: list[str]
    created_at: datetime
    next_at: datetime
    last_error: str = Field(description="Why the last time came to nothing.")
    last_run: UUID | None = Field(description="The crawl it began last.")
    options: dict[str, Any]
    sends: list[str] = Field(description="What its crawls send beside their URLs, masked.")


class Schedules(Schema):
    items: list[ScheduleWhole]
    next: str | None


def schedule_of(schedule: Schedule, *, in_full: bool) -> dict[str, Any]:
    """With `in_full` whom it tells and what it sends to sign in are among it."""
    last = schedule.runs.order_by("-created_at").values_list("id", flat=True).first()
    return {
        "id": schedule.id,
        "rule": schedule.rule,
        "enabled": schedule.enabled,
        "start_urls": schedule.start_urls,
        "created_at": schedule.created_at,
        "next_at": schedule.next_at,
        "last_error": schedule.last_error,
        "last_run": last,
        "options": options_shown(schedule.options, in_full=in_full),
        "sends": list(shown(schedule.sealed)) if in_full else [],
    }


EXAMPLE: dict[str, Any] = {
    "id": SCHEDULE_ID,
    "rule": "every 6h",
    "enabled": True,
    "start_urls": ["https://example.com/"],
    "created_at": "2026-11-21T10:00:00Z",
    "next_at": "2026-11-21T16:00:00Z",
    "last_error": "",
    "last_run": CRAWL_ID,
    "options": {"max_pages": 500},
    "sends": [],
}
