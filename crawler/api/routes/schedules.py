"""The doors of schedules: list, make, look, pause, resume, remove."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Schema, Status

from crawler.accounts.permissions import sees_addresses, visible_schedules
from crawler.api.callers import ApiRequest, needs
from crawler.api.idempotency import id_to_make, may_be_made
from crawler.api.lookups import schedule_named
from crawler.api.openapi import SCHEDULE_ID, described
from crawler.api.paging import Cursor, Limit, by_position
from crawler.api.routes.crawls import sealed_for
from crawler.api.schemas import start as shapes
from crawler.api.schemas.start import ScheduleStart
from crawler.core.access.permissions import Right, Scope
from crawler.crawls.schedules import add_schedule, pause_schedule, remove_schedule, resume_schedule
from crawler.models import Schedule

ROOT = "/api/v1/schedules"

router = Router(tags=["schedules"])


class ScheduleMoved(Schema):
    """What came of asking a schedule to be moved."""

    id: UUID
    enabled: bool
    moved: bool


@router.get(
    "",
    operation_id="schedules_list_schedules",
    auth=needs(Scope.SCHEDULES_READ),
    response=shapes.Schedules,
    summary="List schedules",
    openapi_extra=described({"items": [shapes.EXAMPLE], "next": None}),
)
def list_schedules(
    request: ApiRequest,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """The schedules you may see, in the order they were made."""
    schedules = visible_schedules(request.user).order_by("created_at", "pk")
    listed = by_position(request, lambda places: list(schedules[places]), cursor, limit)
    return {**listed, "items": [_shown(request, schedule) for schedule in listed["items"]]}


@router.post(
    "",
    operation_id="schedules_create_schedule",
    auth=needs(Scope.SCHEDULES_WRITE),
    response={201: shapes.ScheduleWhole},
    summary="Make a schedule",
    openapi_extra=described(
        shapes.EXAMPLE, status=201, sends={"start_urls": ["https://example.com/"], "rule": "every 6h", "max_pages": 500}
    ),
)
def create_schedule(request: ApiRequest, body: ScheduleStart, response: HttpResponse) -> Status[dict[str, Any]]:
    """Its first run begins when its time has come. To begin at once, start a crawl with `schedule`."""
    schedule = _made_before(request) or _made(request, body)
    response["Location"] = request.build_absolute_uri(f"{ROOT}/{schedule.id}")
    return Status(201, _shown(request, schedule))


@router.get(
    "/{uuid:schedule_id}",
    operation_id="schedules_get_schedule",
    auth=needs(Scope.SCHEDULES_READ),
    response=shapes.ScheduleWhole,
    summary="Look at a schedule",
    openapi_extra=described(shapes.EXAMPLE),
)
def get_schedule(request: ApiRequest, schedule_id: UUID) -> dict[str, Any]:
    return _shown(request, schedule_named(request, schedule_id))


@router.post(
    "/{uuid:schedule_id}/pause",
    operation_id="schedules_pause",
    auth=needs(Scope.SCHEDULES_WRITE),
    response=ScheduleMoved,
    summary="Pause a schedule",
    openapi_extra=described({"id": SCHEDULE_ID, "enabled": False, "moved": True}),
)
def pause(request: ApiRequest, schedule_id: UUID) -> dict[str, Any]:
    """Begin no more runs."""
    return {
        "id": schedule_id,
        "enabled": False,
        "moved": pause_schedule(schedule_named(request, schedule_id, Right.CONTROL).id),
    }


@router.post(
    "/{uuid:schedule_id}/resume",
    operation_id="schedules_resume",
    auth=needs(Scope.SCHEDULES_WRITE),
    response=ScheduleMoved,
    summary="Resume a schedule",
    openapi_extra=described({"id": SCHEDULE_ID, "enabled": True, "moved": True}),
)
def resume(request: ApiRequest, schedule_id: UUID) -> dict[str, Any]:
    """Begin runs again, from the next time on."""
    return {
        "id": schedule_id,
        "enabled": True,
        "moved": resume_schedule(schedule_named(request, schedule_id, Right.CONTROL).id),
    }


@router.delete(
    "/{uuid:schedule_id}",
    operation_id="schedules_delete_schedule",
    auth=needs(Scope.SCHEDULES_WRITE),
    response={204: None},
    summary="Remove a schedule",
    openapi_extra=described(status=204),
)
def delete_schedule(request: ApiRequest, schedule_id: UUID) -> Status[None]:
    """The crawls it began stay."""
    remove_schedule(schedule_named(request, schedule_id, Right.OWN).id)
    return Status(204, None)


def _made_before(request: ApiRequest) -> Schedule | None:
    made = may_be_made(request)
    return visible_schedules(request.user).filter(pk=made).first() if made else None


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
