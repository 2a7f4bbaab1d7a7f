"""Operations on schedules: list, create, get, pause, resume, delete."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Schema, Status

from crawler.accounts.permissions import sees_addresses, visible_schedules
from crawler.api.addresses import address
from crawler.api.callers import ApiRequest
from crawler.api.idempotency import id_to_make
from crawler.api.lookups import created, made_before, schedule_named, switched
from crawler.api.openapi import SCHEDULE_ID, Operations
from crawler.api.paging import Cursor, Limit, by_position
from crawler.api.routes.crawls import sealed_for
from crawler.api.schemas import start as shapes
from crawler.api.schemas.start import ScheduleStart
from crawler.core.access.permissions import Right, Scope
from crawler.crawls.schedules import add_schedule, pause_schedule, remove_schedule, resume_schedule
from crawler.models import Schedule

router = Operations("schedules")


class ScheduleStateChange(Schema):
    """The result of pausing or resuming a schedule."""

    id: UUID
    enabled: bool
    moved: bool


@router.on("GET", "List schedules", Scope.SCHEDULES_READ, shapes.Schedules, {"items": [shapes.EXAMPLE], "next": None})
def list_schedules(request: ApiRequest, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """The schedules you may see, in the order of their creation."""
    schedules = visible_schedules(request.user).order_by("created_at", "pk")
    listed = by_position(request, lambda places: list(schedules[places]), cursor, limit)
    return {**listed, "items": [_shown(request, schedule) for schedule in listed["items"]]}


@router.on(
    "POST",
    "Make a schedule",
    Scope.SCHEDULES_WRITE,
    shapes.ScheduleDetail,
    shapes.EXAMPLE,
    sends={"start_urls": ["https://example.com/"], "rule": "every 6h", "max_pages": 500},
    status=201,
)
def create_schedule(request: ApiRequest, body: ScheduleStart, response: HttpResponse) -> Status[dict[str, Any]]:
    """Its first run begins at its first time. To begin at once, start a crawl with `schedule`."""
    schedule = made_before(request, visible_schedules(request.user)) or _made(request, body)
    return created(request, response, address("schedules", schedule.id), _shown(request, schedule))


@router.on("GET /{uuid:schedule_id}", "Get a schedule", Scope.SCHEDULES_READ, shapes.ScheduleDetail, shapes.EXAMPLE)
def get_schedule(request: ApiRequest, schedule_id: UUID) -> dict[str, Any]:
    return _shown(request, schedule_named(request, schedule_id))


@router.on(
    "POST /{uuid:schedule_id}/pause",
    "Pause a schedule",
    Scope.SCHEDULES_WRITE,
    ScheduleStateChange,
    {"id": SCHEDULE_ID, "enabled": False, "moved": True},
)
def pause(request: ApiRequest, schedule_id: UUID) -> dict[str, Any]:
    """No further run begins until it is resumed."""
    schedule = schedule_named(request, schedule_id, Right.CONTROL)
    return switched(schedule, on=False, moved=pause_schedule(schedule.id))


@router.on(
    "POST /{uuid:schedule_id}/resume",
    "Resume a schedule",
    Scope.SCHEDULES_WRITE,
    ScheduleStateChange,
    {"id": SCHEDULE_ID, "enabled": True, "moved": True},
)
def resume(request: ApiRequest, schedule_id: UUID) -> dict[str, Any]:
    """Runs begin again, from the next time on."""
    schedule = schedule_named(request, schedule_id, Right.CONTROL)
    return switched(schedule, on=True, moved=resume_schedule(schedule.id))


@router.on("DELETE /{uuid:schedule_id}", "Remove a schedule", Scope.SCHEDULES_WRITE, status=204)
def delete_schedule(request: ApiRequest, schedule_id: UUID) -> Status[None]:
    """The crawls it started are kept."""
    remove_schedule(schedule_named(request, schedule_id, Right.OWN).id)
    return Status(204, None)


def _made(request: ApiRequest, body: ScheduleStart) -> Schedule:
    options = body.options()
    return add_schedule(
        body.start_urls,
        options,
        body.rule,
        owner=request.user,
        allow_private=body.private_allowed(request.user),
        sealed=sealed_for(request, body, options, body.start_urls),
        schedule_id=id_to_make(request),
    )


def _shown(request: ApiRequest, schedule: Schedule) -> dict[str, Any]:
    return shapes.schedule_of(schedule, in_full=sees_addresses(request.user, schedule))
