"""Schemas of notice channels, deliveries, tokens and quotas."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.api.schemas.fields import fields_of
from crawler.core.access import quotas
from crawler.core.access.permissions import Scope
from crawler.core.channels.catalogue import ADDRESS_HELP, CHANNELS, SERVICES, listed
from crawler.core.options.events import DEFAULT_EVENTS
from crawler.models import ApiToken, Channel, Delivery
from crawler.notices.user_channels import NAME_LENGTH, ChannelValues
from crawler.reports.receipt import address_shown, channel_shown, error_shown

if TYPE_CHECKING:
    Means = str
else:
    Means = StrEnum("Means", {name.upper(): name for name in CHANNELS}, module=__name__)
    Means.__doc__ = "The kinds of notice channels."

SECRET_HELP = f"An address of {listed(SERVICES)} is a secret and always masked."


class ChannelInput(Schema):
    """A channel to be added, or the new values of one."""

    model_config = ConfigDict(extra="forbid")

    transport: Means = Field(description="The kind of channel.")
    address: str = Field("", max_length=2000, description=f"{ADDRESS_HELP} If left out, the channel keeps its address.")
    events: list[str] = Field(list(DEFAULT_EVENTS), max_length=20, description="`crawl.started`, `crawl.paused`, ...")
    name: str = Field("", max_length=NAME_LENGTH, description="For yourself.")

    def wanted(self) -> ChannelValues:
        """The values, not validated yet."""
        return ChannelValues(name=self.name, transport=self.transport, address=self.address, events=tuple(self.events))


class ChannelDetail(Schema):
    """A notice channel for all your crawls."""

    id: UUID
    name: str
    transport: Means
    address: str = Field(description=SECRET_HELP)
    events: list[str]
    enabled: bool = Field(description="False: paused, it gets no notices.")
    created_at: datetime
    tested_at: datetime | None
    last_state: str | None = Field(description="The state of the last notice: pending, delivered or given_up.")


class NewChannel(ChannelDetail):
    """A channel that was just added."""

    secret: str | None = Field(description="The signing secret of a webhook. It is not shown again.")


class WebhookAddress(Schema):
    """Where webhooks are sent."""

    address: str = Field(description="As in `notify_webhooks`.")


class CreatedSecret(Schema):
    """A secret that was just made."""

    secret: str = Field(description="`whsec_...`, for a library of Standard Webhooks. It is not shown again.")
    previous_until: datetime | None = Field(
        description="Until when the previous secret also signs; null: there was none."
    )


class Channels(Schema):
    items: list[ChannelDetail]


class ChannelStateChange(Schema):
    """The result of pausing or resuming a channel."""

    id: UUID
    enabled: bool
    moved: bool = Field(description="Whether this call changed it; false if it was already in that state.")


class TestResult(Schema):
    """The result of a test."""

    arrived: bool = Field(description="Whether the receiver accepted it.")
    message: str


def channel_of(channel: Channel) -> dict[str, Any]:
    deliveries = Delivery.objects.filter(channel=channel).order_by("-created_at")
    last_state = deliveries.values_list("state", flat=True).first()
    return fields_of(ChannelDetail, channel, address=channel_shown(channel), last_state=last_state)


CHANNEL_ID = "2f6d3a1e-7b0c-4b5e-9f1a-3c2d1e0f9a8b"
WANTED_EXAMPLE: dict[str, Any] = {
    "transport": "webhook",
    "address": "https://example.com/hook",
    "events": ["crawl.finished", "crawl.failed"],
    "name": "the nightly build",
}
CHANNEL_EXAMPLE: dict[str, Any] = {
    **WANTED_EXAMPLE,
    "id": CHANNEL_ID,
    "enabled": True,
    "created_at": "2026-11-21T10:00:00Z",
    "tested_at": None,
    "last_state": "delivered",
}


SECRET_EXAMPLE: dict[str, Any] = {
    "secret": "whsec_b25seSBhbiBleGFtcGxlLCBub3QgYSByZWFsIHNlY3JldA==",
    "previous_until": "2026-11-22T10:00:00Z",
}
MADE_EXAMPLE: dict[str, Any] = {**CHANNEL_EXAMPLE, "last_state": None, "secret": SECRET_EXAMPLE["secret"]}


class DeliveryLine(Schema):
    """One delivery of a notice to one receiver."""

    id: UUID
    event: str = Field(description="The event, such as `crawl.finished`.")
    round: int = Field(description="The round of the crawl.")
    pages: int = Field(description="Pages in the notice; 0 for other events than `crawl.page`.")
    transport: Means
    address: str = Field(description=f"Masked for all but the crawl's owner. {SECRET_HELP}")
    state: Literal["pending", "delivered", "given_up"]
    attempts: int
    again: bool = Field(description="A user requested another attempt.")
    created_at: datetime
    tried_at: datetime | None
    delivered_at: datetime | None
    answer: str = Field(description="The receiver's response when it accepted the notice.")
    error: str = Field(description="Why the last attempt failed.")


class Deliveries(Schema):
    items: list[DeliveryLine]
    next: str | None


class SentAgain(Schema):
    message: str


def line_of(delivery: Delivery, *, in_full: bool) -> dict[str, Any]:
    """`in_full`: for a user who may see its address."""
    notice = delivery.notice
    return fields_of(
        DeliveryLine,
        delivery,
        event=notice.event,
        round=notice.round,
        pages=len(notice.pages),
        address=address_shown(delivery, in_full=in_full),
        error=error_shown(delivery, in_full=in_full),
    )


NOTICE_EXAMPLE: dict[str, Any] = {
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
    "error": "the server returned 503",
}


class Token(Schema):
    """An API token, without its secret."""

    id: int
    name: str
    shown: str = Field(description="The first characters of its secret.")
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None = Field(description="To the minute.")
    expires_at: datetime | None


class Tokens(Schema):
    items: list[Token]


class Quota(Schema):
    """Your quota and usage."""

    active_crawls: int = Field(description="Unfinished crawls.")
    most_active_crawls: int | None = Field(description="Null: no limit.")
    pages_today: int = Field(description="Pages requested today, in UTC.")
    most_pages_a_day: int | None
    stored_pages: int = Field(description="Stored pages of your crawls; deleting a crawl frees them.")
    most_stored_pages: int | None
    stored_mb: int = Field(description="Megabytes of stored content.")
    most_stored_mb: int | None


class Me(Schema):
    """The caller, and what the call may do."""

    user: str
    superuser: bool
    groups: list[str] = Field(description="Groups you can share crawls with.")
    quota: Quota
    scopes: list[Scope]
    token: Token | None = Field(description="Null when logged in.")


def token_of(token: ApiToken) -> dict[str, Any]:
    return fields_of(Token, token)


def quota_of(may: quotas.Quota, has: quotas.QuotaUse) -> dict[str, Any]:
    return {
        "active_crawls": has.active_crawls,
        "most_active_crawls": may.active_crawls or None,
        "pages_today": has.pages_today,
        "most_pages_a_day": may.pages_a_day or None,
        "stored_pages": has.stored.pages,
        "most_stored_pages": may.stored_pages or None,
        "stored_mb": has.stored.bytes // quotas.BYTES_PER_MB,
        "most_stored_mb": may.stored_mb or None,
    }


QUOTA_EXAMPLE = {
    "active_crawls": 1,
    "most_active_crawls": 10,
    "pages_today": 120,
    "most_pages_a_day": None,
    "stored_pages": 4711,
    "most_stored_pages": 5_000_000,
    "stored_mb": 0,
    "most_stored_mb": 50_000,
}
EXAMPLE: dict[str, Any] = {
    "id": 1,
    "name": "nightly build",
    "shown": "sc_AbCdE",
    "scopes": ["crawls:read", "crawls:write"],
    "created_at": "2026-11-21T10:00:00Z",
    "last_used_at": "2026-11-21T10:05:00Z",
    "expires_at": None,
}
