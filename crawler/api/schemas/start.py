"""Schemas for starting a crawl: start URLs, every option of `core.options.catalogue`, credentials, schedules."""

from __future__ import annotations

from datetime import datetime
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from ninja import Schema
from pydantic import ConfigDict, Field, create_model

from crawler.accounts.permissions import check_private
from crawler.api.openapi import CRAWL_ID, SCHEDULE_ID
from crawler.api.schemas.crawl import options_shown
from crawler.api.schemas.fields import fields_of
from crawler.core.access.credential_kinds import Typed
from crawler.core.access.credentials import CHANGEABLE as CHANGEABLE_KINDS
from crawler.core.access.credentials import KINDS, parse
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CHANGEABLE, CrawlOptions
from crawler.encryption import seal, shown
from crawler.models import Schedule

MAX_START_URLS = 1000
MAX_WHOLE_NUMBER = 2**53  # every JSON parser reads it exactly


def _secrets() -> dict[str, Any]:
    return {
        name: (list[str], Field([], description=kind.description))
        if kind.typed is Typed.LINES
        else (str, Field("", description=kind.description))
        for name, kind in KINDS.items()
    }


if TYPE_CHECKING:
    Secrets = Schema
else:
    Secrets = create_model("Secrets", __base__=Schema, **_secrets())


class Base(Secrets):
    """The fields besides the options."""

    model_config = ConfigDict(extra="forbid")

    same_credentials: UUID | None = Field(
        None, description="Send the credentials of this earlier crawl of yours instead."
    )
    allow_private: bool = Field(False, description="Allow private addresses; superusers only.")

    def options(self) -> CrawlOptions:
        """The options, not validated yet. BadInput for a value of another type."""
        sent = self.model_dump(exclude_unset=True)
        plain = {name: sent[name] for name in CrawlOptions.__struct_fields__ if sent.get(name) is not None}
        try:
            return msgspec.convert(plain, CrawlOptions)
        except msgspec.ValidationError as error:
            what, _, where = str(error).partition(" - at `$.")
            raise BadInput(where.rstrip("`") or "options", f"{what}.") from None

    def sealed(self) -> str:
        """The encrypted credentials; "" for none. BadInput if they cannot be used."""
        return seal(parse(**{name: getattr(self, name) for name in KINDS}))

    def private_allowed(self, user: User) -> bool:
        """Whether private addresses may be fetched; BadInput for a user who may not allow that."""
        check_private(user, allow_private=self.allow_private)
        return self.allow_private


def _fields() -> dict[str, Any]:
    hints = get_type_hints(CrawlOptions)
    return {
        name: (_shape(hints[name]), Field(entry.default, description=entry.description))
        for name, entry in CrawlOptions.entries.items()
    }


def _shape(hint: Any) -> Any:
    """The type as pydantic knows it. A struct is an object here; `options` checks its contents."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return dict[str, Any]
    if hint is int:
        return Annotated[int, Field(ge=-MAX_WHOLE_NUMBER, le=MAX_WHOLE_NUMBER)]
    parts = tuple(part if part is ... else _shape(part) for part in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return Union[parts]  # noqa: UP007 (its parts are known only now)
    return get_origin(hint)[parts] if parts and get_origin(hint) is tuple else hint


if TYPE_CHECKING:
    Options = Base
else:
    Options = create_model("Options", __base__=Base, **_fields())


class StrictSchema(Schema):
    """Refuses fields that are not named."""

    model_config = ConfigDict(extra="forbid")


def _changeable() -> dict[str, Any]:
    return {
        name: (shape | None, Field(None, description=field.description))
        for name, (shape, field) in _fields().items()
        if name in CHANGEABLE
    }


def _changeable_secrets() -> dict[str, Any]:
    return {
        name: (list[str] | None, Field(None, description=change.description))
        for name, change in CHANGEABLE_KINDS.items()
    }


if TYPE_CHECKING:
    CrawlChange = StrictSchema
else:
    CrawlChange = create_model("CrawlChange", __base__=StrictSchema, **_changeable_secrets(), **_changeable())


class Start(Options):
    """What begins at URLs."""

    start_urls: list[str] = Field(
        max_length=MAX_START_URLS,
        min_length=1,
        description="The start URLs, as a user types them, such as `example.com/docs`.",
    )


class Sharing(Schema):
    """With whom a crawl is shared from its start."""

    group: str | None = Field(
        None, max_length=150, description="The name of a group of yours, whose members can view it."
    )
    group_controls: bool = Field(False, description="They can also pause, resume and cancel it.")


class CrawlStart(Start, Sharing):
    """A crawl to be started."""

    schedule: str = Field("", description='Repeat it: "every 6h", or a cron expression. The first run starts now.')


class ListStart(Options, Sharing):
    """The fields next to a list of URLs: a crawl over it follows no links, so options about links are refused."""


class PreviewRequest(Options):
    """Rules to be tried on one page, asked for as a crawl with these options would ask."""

    try_url: str = Field(description="The page, as a user types it.")
    start_urls: list[str] = Field(
        [],
        max_length=MAX_START_URLS,
        description="The start URLs of the crawl, which determine the hosts that receive the credentials.",
    )


class ScheduleStart(Start):
    """A crawl to be begun again and again."""

    rule: str = Field(description='When: "every 6h", "every 2 days", or a cron expression such as "0 3 * * *".')


# A schedule as the API shows it.


class ScheduleDetail(Schema):
    """A schedule in full."""

    id: UUID
    rule: str
    enabled: bool
    start_urls: list[str]
    created_at: datetime
    next_at: datetime
    last_error: str = Field(description="Why the last run did not start.")
    last_run: UUID | None = Field(description="The last crawl it started.")
    options: dict[str, Any]
    sends: list[str] = Field(description="The credentials of its crawls, masked.")


class Schedules(Schema):
    items: list[ScheduleDetail]
    next: str | None


def schedule_of(schedule: Schedule, *, in_full: bool) -> dict[str, Any]:
    """`in_full`: with the receivers of its notices and its credentials, masked."""
    return fields_of(
        ScheduleDetail,
        schedule,
        last_run=schedule.runs.order_by("-created_at").values_list("id", flat=True).first(),
        options=options_shown(schedule.options, in_full=in_full),
        sends=list(shown(schedule.sealed)) if in_full else [],
    )


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
