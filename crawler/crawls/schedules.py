"""Recurring crawls. Only `clock` starts due runs; two clocks start one run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from crawler import clock
from crawler.accounts import audit, quotas
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.urls.addresses import EVERYTHING
from crawler.crashpoints import crash_point
from crawler.crawls.control import wake_manager
from crawler.crawls.start import (
    draft,
    insert,
    save_schedule,
    schedule_like,
    services_needed,
    timetable_of,
)
from crawler.models import Crawl, Schedule
from crawler.queueing import queues

log = logging.getLogger(__name__)

SCHEDULES_PER_RUN = 20  # the others follow a second later
PREVIOUS_RUNNING_MESSAGE = "This run was skipped, because the previous run was not over."
NOT_ACTIVE = "The owner's account is not active. A superuser can activate it, or remove the schedule."
NOT_PUBLIC = (
    "It allows private addresses, which only superusers may do, and its owner is no longer a superuser. Remove it, "
    "and have a superuser add it again, or add it without them."
)


def add_schedule(
    references: Sequence[str],
    options: CrawlOptions,
    rule: str,
    *,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    schedule_id: UUID | None = None,
) -> Schedule:
    """A new schedule, whose first run starts when it is due; `start_crawl` with a rule starts it at once.

    Raises BadInput ("schedule" for the rule, else as `start_crawl`) and ServiceDown. Then nothing was created.
    """
    timetable = timetable_of(rule)
    crawl = draft(references, options, owner=owner, allow_private=allow_private, sealed=sealed)
    schedule = schedule_like(crawl, rule, timetable)
    schedule.id = schedule_id or schedule.id
    with services_needed(), transaction.atomic():
        save_schedule(schedule)
    return schedule


def run_due(now: datetime) -> int:
    """Start the runs that are due; returns how many.

    Runs missed because no clock ran or Redis was down are made up for by one run.
    """
    due = list(Schedule.objects.filter(enabled=True, next_at__lte=now).order_by("next_at")[:SCHEDULES_PER_RUN])
    if due:
        queues.connection().ping()  # without Redis no run is started
    return sum(_run(schedule, now) for schedule in due)


def pause_schedule(schedule: UUID) -> bool:
    """Start no more runs; True if this call paused the schedule."""
    with transaction.atomic():
        if Schedule.objects.filter(id=schedule, enabled=True).update(enabled=False) != 1:
            return False
        audit.note("schedule.paused", Schedule.objects.get(id=schedule))
    return True


def resume_schedule(schedule_id: UUID) -> bool:
    """Start runs again, from the next time on: skipped runs are not made up for."""
    schedule = Schedule.objects.filter(id=schedule_id, enabled=False).first()
    if schedule is None:
        return False
    next_at = timetable_of(schedule.rule).next_after(clock.now(), since=schedule.next_at)
    with transaction.atomic():
        paused = Schedule.objects.filter(id=schedule_id, enabled=False)
        if paused.update(enabled=True, next_at=next_at, last_error="") != 1:
            return False
        audit.note("schedule.resumed", schedule)
    return True


def remove_schedule(schedule: UUID) -> bool:
    """Delete a schedule; its runs stay. True if it existed."""
    with transaction.atomic():
        found = Schedule.objects.select_for_update().filter(id=schedule).first()
        if found is None:
            return False
        audit.note("schedule.removed", found, before={"rule": found.rule})
        found.delete()
    return True


def _run(schedule: Schedule, now: datetime) -> bool:
    """Start one run, or note why not. The conditional update of `next_at` decides which clock does it."""
    try:
        next_at = timetable_of(schedule.rule).next_after(now, since=schedule.next_at)
    except BadInput as error:  # the rule was stored by another version
        Schedule.objects.filter(id=schedule.id).update(enabled=False, last_error=error.message)
        return False
    crawl, trouble = _next_crawl(schedule)
    with transaction.atomic():
        this_time = Schedule.objects.filter(id=schedule.id, enabled=True, next_at=schedule.next_at)
        if this_time.update(next_at=next_at, last_error=trouble) != 1:
            return False  # another clock was first, or a user paused or removed it
        if crawl is not None:
            insert(crawl)
    if crawl is None:
        log.warning("schedule %s begins no crawl of %s: %s", schedule.id, schedule.start_urls[0], trouble)
        return False
    crash_point("schedule: committed")
    wake_manager(crawl)
    return True


def why_not_again(*, is_active: bool, is_superuser: bool, every_address: bool) -> str:
    """Why a schedule starts no crawl any more, by the present state of its owner; "" = it does."""
    if not is_active:
        return NOT_ACTIVE
    return NOT_PUBLIC if every_address and not is_superuser else ""


def _next_crawl(schedule: Schedule) -> tuple[Crawl | None, str]:
    """The run to start, or why it cannot. Permissions are checked again: settings, addresses and users change.
    Schedules created on the command line have no owner."""
    previous = schedule.runs.order_by("-created_at").first()
    if previous is not None and not previous.is_over:
        return None, PREVIOUS_RUNNING_MESSAGE
    options = CrawlOptions.from_plain(schedule.options)
    owner, allow_private = schedule.owner, EVERYTHING in options.private_hosts
    if owner is not None:
        facts = {"is_active": owner.is_active, "is_superuser": owner.is_superuser}
        if trouble := why_not_again(**facts, every_address=allow_private):
            return None, trouble
    try:
        quotas.check(owner, clock.now())
        crawl = draft(schedule.start_urls, options, owner=owner, allow_private=allow_private, sealed=schedule.sealed)
    except BadInput as error:
        return None, error.message
    crawl.schedule, crawl.previous = schedule, previous
    crawl.group, crawl.group_controls = schedule.group, schedule.group_controls
    return crawl, ""
