"""What a caller may see. Somebody else's is not there."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.contrib.auth.models import Group, User
from redis import RedisError

from crawler.accounts.permissions import groups_of, may, own_channels, visible_crawls, visible_schedules
from crawler.api.callers import ApiRequest
from crawler.api.idempotency import may_be_made
from crawler.api.problems import Problem
from crawler.core.access.permissions import Right
from crawler.core.crawl.page_query import MAX_KEY
from crawler.core.errors import BadInput, ServiceDown
from crawler.manager.reconcile import reconcile
from crawler.models import Channel, Crawl, Page, Schedule


def crawl_named(request: ApiRequest, crawl_id: UUID, right: Right = Right.SEE) -> Crawl:
    """A crawl the caller may see and, with the scope for it, do this with."""
    crawl = visible_crawls(request.user).filter(pk=crawl_id).first()
    if crawl is None:
        raise Problem(404, f"There is no crawl {crawl_id} that you may see.")
    _check(request, right, crawl)
    return crawl


def crawl_watched(request: ApiRequest, crawl_id: UUID) -> Crawl:
    """The same; whoever looks at one wakes what shows no sign of life."""
    with suppress(ServiceDown, RedisError):  # the table can still be read
        reconcile()
    return crawl_named(request, crawl_id)


def crawl_made_before(request: ApiRequest) -> Crawl | None:
    """What an earlier try of this very call made, before it could answer."""
    made = may_be_made(request)
    return visible_crawls(request.user).filter(pk=made).first() if made else None


def page_named(crawl: Crawl, page_id: int) -> Page:
    """A page of a crawl the caller may see."""
    found = Page.objects.filter(crawl=crawl, pk=page_id).first() if 0 <= page_id <= MAX_KEY else None
    if found is None:
        raise Problem(404, f"This crawl has no page {page_id}.")
    return found


def schedule_named(request: ApiRequest, schedule_id: UUID, right: Right = Right.SEE) -> Schedule:
    """A schedule the caller may see and, with the scope for it, do this with."""
    schedule = visible_schedules(request.user).filter(pk=schedule_id).first()
    if schedule is None:
        raise Problem(404, f"There is no schedule {schedule_id} that you may see.")
    _check(request, right, schedule)
    return schedule


def channel_named(request: ApiRequest, channel_id: UUID) -> Channel:
    """A channel of the caller's."""
    channel = own_channels(request.user).filter(pk=channel_id).first()
    if channel is None:
        raise Problem(404, f"You have no channel {channel_id}.")
    return channel


def group_named(user: User, name: str | None, shared_with: Group | None = None) -> Group | None:
    """The group to share with: one this person is in, or the one it is shared with by now; BadInput for another."""
    if name is None or (shared_with is not None and shared_with.name == name):
        return shared_with if name is not None else None
    group = groups_of(user).filter(name=name).first()
    if group is None:
        raise BadInput("group", "You are in no group of this name; GET /me lists yours.")
    return group


def _check(request: ApiRequest, right: Right, item: Crawl | Schedule) -> None:
    if not may(request.user, right, item):
        raise Problem(403, "You may look at this, and no more: ask its owner.")
