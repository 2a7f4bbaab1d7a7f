"""A notice on its way to somebody, as the API shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import Field

from crawler.core.receivers import Means
from crawler.models import Delivery
from crawler.reports.receipt import address_shown, error_shown


class DeliveryLine(Schema):
    """A notice that was or is to be sent to one place."""

    id: UUID
    event: str = Field(description="`crawl.finished` and the like.")
    round: int = Field(description="The crawl's, when it happened.")
    pages: int = Field(description="Pages it tells of; 0 for other events than `crawl.page`.")
    transport: Means
    address: str = Field(description="Masked for all but the crawl's owner; that of Slack and Discord for everybody.")
    state: Literal["pending", "delivered", "given_up"]
    attempts: int
    again: bool = Field(description="Somebody had it sent once more.")
    created_at: datetime
    tried_at: datetime | None
    delivered_at: datetime | None
    answer: str = Field(description="What the receiver said when it took it.")
    error: str = Field(description="Why the last try came to nothing.")


class Deliveries(Schema):
    items: list[DeliveryLine]
    next: str | None


class SentAgain(Schema):
    message: str


def line_of(delivery: Delivery, *, in_full: bool) -> dict[str, Any]:
    """`in_full`: for whoever may see where it goes."""
    notice = delivery.notice
    return {
        "id": delivery.id,
        "event": notice.event,
        "round": notice.round,
        "pages": len(notice.pages),
        "transport": delivery.transport,
        "address": address_shown(delivery, in_full=in_full),
        "state": delivery.state,
        "attempts": delivery.attempts,
        "again": delivery.again,
        "created_at": delivery.created_at,
        "tried_at": delivery.tried_at,
        "delivered_at": delivery.delivered_at,
        "answer": delivery.answer,
        "error": error_shown(delivery, in_full=in_full),
    }


EXAMPLE: dict[str, Any] = {
    "id": "1c5b7a52-6f0e-4a3c-8d3e-0f6a5b4c3d2e",
    "event": "crawl.finished",
    "round": 1,
    "pages": 0,
    "transport": "webhook",
    "address": "https://example.com/hook",
    "state": "given_up",
    "attempts": 8,
    "again": False,
    "created_at": "2026-11-21T10:00:01.500Z",
    "tried_at": "2026-11-21T14:00:01.500Z",
    "delivered_at": None,
    "answer": "",
    "error": "it answered 503",
}
