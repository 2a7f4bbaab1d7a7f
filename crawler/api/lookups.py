"""Looks up what an address or a body names, for a caller who may see it. All else is answered 404, as if missing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from ninja import Status
from redis import RedisError

from crawler.accounts.permissions import groups_of, may, own_channels, visible_crawls, visible_schedules
from crawler.api.callers import ApiRequest
from crawler.api.idempotency import may_be_made
from crawler.api.problems import Problem
from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput, ServiceDown
from crawler.core.pages.page_query import MAX_KEY
from crawler.crawls.reconcile import reconcile
from crawler.models import Channel, Crawl, Page, Schedule

Item = TypeVar("Item", bound=Model)


def crawl_named(request: ApiRequest, crawl_id: UUID, right: Right = Right.SEE) -> Crawl:
    """A crawl for which the caller has this right."""
    crawl = _found(
        visible_crawls(request.user), crawl_id, f"There is no crawl {crawl_id}, or you have no access to it."
    )
    _check(request, right, crawl)
    return crawl


def crawl_watched(request: ApiRequest, crawl_id: UUID) -> Crawl:
    """A crawl the caller may see; stalled crawls are woken first."""
    with suppress(ServiceDown, RedisError):  # the table can still be read
        reconcile()
    return crawl_named(request, crawl_id)


def page_named(crawl: Crawl, page_id: int) -> Page:
    missing = f"This crawl has no page {page_id}."
    if not 0 <= page_id <= MAX_KEY:
        raise Problem(404, missing)
    return _found(Page.objects.filter(crawl=crawl), page_id, missing)


def schedule_named(request: ApiRequest, schedule_id: UUID, right: Right = Right.SEE) -> Schedule:
    """A schedule for which the caller has this right."""
    missing = f"There is no schedule {schedule_id}, or you have no access to it."
    schedule = _found(visible_schedules(request.user), schedule_id, missing)
    _check(request, right, schedule)
    return schedule


def channel_named(request: ApiRequest, channel_id: UUID) -> Channel:
    """A channel of the caller."""
    return _found(own_channels(request.user), channel_id, f"You have no channel {channel_id}.")


def group_named(user: User, name: str | None, shared_with: Group | None = None) -> Group | None:
    """The group to share with: one of the user's, or the present one; BadInput for another."""
    if name is None or (shared_with is not None and shared_with.name == name):
        return shared_with if name is not None else None
    group = groups_of(user).filter(name=name).first()
    if group is None:
        raise BadInput("group", "You are not in a group of this name; GET /me lists yours.")
    return group


def made_before(request: ApiRequest, items: QuerySet[Item]) -> Item | None:
    """The item that an earlier attempt of this call created before it could respond; see `api.idempotency`."""
    made = may_be_made(request)
    return items.filter(pk=made).first() if made else None


def crawl_made_before(request: ApiRequest) -> Crawl | None:
    return made_before(request, visible_crawls(request.user))


def created(request: ApiRequest, response: HttpResponse, address: str, item: dict[str, Any]) -> Status[dict[str, Any]]:
    """The response 201 with the item and its address on this server."""
    response["Location"] = request.build_absolute_uri(address)
    return Status(201, item)


def switched(item: Channel | Schedule, *, on: bool, moved: bool) -> dict[str, Any]:
    """The response to pausing or resuming a channel or schedule."""
    return {"id": item.pk, "enabled": on, "moved": moved}


def _found(items: QuerySet[Item], key: object, missing: str) -> Item:
    item = items.filter(pk=key).first()
    if item is None:
        raise Problem(404, missing)
    return item


def _check(request: ApiRequest, right: Right, item: Crawl | Schedule) -> None:
    if not may(request.user, right, item):
        raise Problem(403, "You can only view this; ask its owner.")
