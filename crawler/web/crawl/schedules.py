"""The list of schedules, and the views that pause, resume and remove one. The form of a crawl makes a schedule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from crawler.accounts.permissions import AnyUser, may, rights_of, visible_crawls, visible_schedules
from crawler.core.access.permissions import Right
from crawler.crawls.schedules import pause_schedule, remove_schedule, resume_schedule
from crawler.models import Crawl, Schedule
from crawler.reports.comparison import compared
from crawler.web.decorators import page_to_post, page_to_read
from crawler.web.tables.paging import paged

SCHEDULES_PER_PAGE = 25


@page_to_read
def schedule_list(request: HttpRequest) -> HttpResponse:
    """The schedules by their next run; paused ones last."""
    ordered = visible_schedules(request.user).order_by("-enabled", "next_at")
    listed = paged(request, ordered, partial(_row, request), noun="schedule", rows_per_page=SCHEDULES_PER_PAGE)
    return render(request, "crawler/schedules.html", listed)


@page_to_post
def schedule_pause(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    """Begin no more runs."""
    return _move(request, schedule_id, pause_schedule, "Paused: no run starts until you resume it.")


@page_to_post
def schedule_resume(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    """Begin runs again."""
    return _move(request, schedule_id, resume_schedule, "Resumed.")


@page_to_post
def schedule_remove(request: HttpRequest, schedule_id: UUID) -> HttpResponse:
    """Forget the schedule; its runs stay. One that is gone already is no error."""
    if not Schedule.objects.filter(pk=schedule_id).exists():
        messages.success(request, "That schedule was already removed.")
        return redirect("schedule-list")
    return _move(request, schedule_id, remove_schedule, "Removed. Its crawls are kept.", Right.OWN)


def runs_of(user: AnyUser, crawl: Crawl) -> dict[str, Any]:
    """A crawl's schedule and the runs before and after it, as far as the user may see them; empty for a single
    crawl."""
    schedule = visible_schedules(user).filter(pk=crawl.schedule_id).first() if crawl.schedule_id else None
    previous = visible_crawls(user).filter(pk=crawl.previous_id).first() if crawl.previous_id else None
    following = visible_crawls(user).filter(previous=crawl).order_by("created_at").first()
    if schedule is None and previous is None and following is None:
        return {}
    since = compared(crawl) if previous is not None else None
    return {"schedule": schedule, "previous": previous, "next": following, "compared": since}


def _row(request: HttpRequest, schedule: Schedule) -> dict[str, Any]:
    return {
        "schedule": schedule,
        "last": _last_run(request.user, schedule),
        "rights": rights_of(request.user, schedule),
    }


def _last_run(user: AnyUser, schedule: Schedule) -> Crawl | None:
    return visible_crawls(user).filter(schedule=schedule).order_by("-created_at").first()


def _move(
    request: HttpRequest, schedule_id: UUID, move: Callable[[UUID], bool], done: str, right: Right = Right.CONTROL
) -> HttpResponse:
    schedule = get_object_or_404(visible_schedules(request.user), pk=schedule_id)
    if not may(request.user, right, schedule):
        raise PermissionDenied("You can view this schedule, but not change it. Ask its owner.")
    if move(schedule_id):
        messages.success(request, done)
    else:
        messages.warning(request, "Nothing to do: another user or request has already done it.")
    return redirect("schedule-list")
