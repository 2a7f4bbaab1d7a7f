"""A token as the API shows it: everything but its secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.core.access import quotas
from crawler.core.access.permissions import Scope
from crawler.models import ApiToken


class Token(Schema):
    """A key to the API."""

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
    """How much you may crawl, and have crawled."""

    active_crawls: int = Field(description="Crawls that are not over.")
    most_active_crawls: int | None = Field(description="Null: no limit.")
    pages_today: int = Field(description="Pages asked for today, in UTC.")
    most_pages_a_day: int | None


class Me(Schema):
    """Who calls, and what they may do by this call."""

    user: str
    superuser: bool
    groups: list[str] = Field(description="Whom you may share crawls with.")
    quota: Quota
    scopes: list[Scope]
    token: Token | None = Field(description="Null when logged in.")


def token_of(token: ApiToken) -> dict[str, Any]:
    return {name: getattr(token, name) for name in Token.model_fields}


def quota_of(may: quotas.Quota, has: quotas.Used) -> dict[str, Any]:
    return {
        "active_crawls": has.active_crawls,
        "most_active_crawls": may.active_crawls or None,
        "pages_today": has.pages_today,
        "most_pages_a_day": may.pages_a_day or None,
    }


QUOTA_EXAMPLE = {"active_crawls": 1, "most_active_crawls": 10, "pages_today": 120, "most_pages_a_day": None}
EXAMPLE: dict[str, Any] = {
    "id": 1,
    "name": "nightly build",
    "shown": "sc_AbCdE",
    "scopes": ["crawls:read", "crawls:write"],
    "created_at": "2026-11-21T10:00:00Z",
    "last_used_at": "2026-11-21T10:05:00Z",
    "expires_at": None,
}
