"""What a caller may see. Somebody else's is not there."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from redis import RedisError

from crawler.accounts import may, visible_crawls, visible_schedules
from crawler.api.callers import ApiRequest
from crawler.api.problems import Problem
from crawler.core.cursors import LARGEST
from crawler.core.errors import ServiceDown
from crawler.core.rights import Right
from crawler.engine.reconcile import reconcile
from crawler.models import Crawl, Page, Schedule


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


def page_named(crawl: Crawl, page_id: int) -> Page:
    """A page of a crawl the caller may see."""
    found = Page.objects.filter(crawl=crawl, pk=page_id).first() if 0 <= page_id <= LARGEST else None
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


def _check(request: ApiRequest, right: Right, item: Crawl | Schedule) -> None:
    if not may(request.user, right, item):
        raise Problem(403, "You may look at this, and no more: ask its owner.")
