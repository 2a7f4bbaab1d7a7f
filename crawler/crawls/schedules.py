"""Crawls that are begun again and again. Only `clock` looks for those that are due; two clocks begin one run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from crawler import clock
from crawler.accounts import audit, quotas
from crawler.core.access.permissions import why_not_again
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.schedule import Timetable, parse
from crawler.core.errors import BadInput
from crawler.crashpoints import crash_point
from crawler.crawls.start import EVERY_ADDRESS, drafted, insert, services_needed, set_going
from crawler.models import Crawl, Schedule
from crawler.queueing import queues

log = logging.getLogger(__name__)

AT_ONCE = 20  # schedules begun in one go; the others' turn comes a second later
STILL_GOING = "The run before was not over, so this one was left out."


def timetable_of(rule: str) -> Timetable:
    """When a rule fires; a cron line means the clock of Django's TIME_ZONE."""
    return parse(rule, timezone.get_default_timezone())


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
    """A new schedule, whose first run begins when its time has come.

    Raises BadInput ("schedule" for the rule, else as `start_crawl`) and ServiceDown. Then nothing was made.
    """
    timetable = timetable_of(rule)
    crawl = drafted(references, options, owner=owner, allow_private=allow_private, sealed=sealed)
    schedule = _like(crawl, rule, timetable)
    schedule.id = schedule_id or schedule.id
    with services_needed(), transaction.atomic():
        _save(schedule)
    return schedule


def begin_schedule(
    references: Sequence[str],
    options: CrawlOptions,
    rule: str,
    *,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    crawl_id: UUID | None = None,
) -> Crawl:
    """The first run of a new schedule, begun at once; all or nothing, as above."""
    timetable = timetable_of(rule)
    crawl = drafted(references, options, owner=owner, allow_private=allow_private, sealed=sealed)
    crawl.id = crawl_id or crawl.id
    crawl.schedule = _like(crawl, rule, timetable)
    with services_needed():
        queues.connection().ping()
        with transaction.atomic():
            _save(crawl.schedule)
            insert(crawl)
        crash_point("schedule: committed")
        set_going(crawl)
    crawl.refresh_from_db()
    return crawl


def _save(schedule: Schedule) -> None:
    schedule.save()
    audit.note("schedule.made", schedule, after={"rule": schedule.rule, "signs_in": bool(schedule.sealed)})


def _like(crawl: Crawl, rule: str, timetable: Timetable) -> Schedule:
    return Schedule(
        start_urls=crawl.start_urls,
        options=crawl.options,
        sealed=crawl.sealed,
        rule=" ".join(rule.split()),
        owner=crawl.owner,
        next_at=timetable.next_after(clock.now()),
    )


def run_due(now: datetime) -> int:
    """Begin the runs that are due; how many were begun.

    A time that was missed, because no clock ran or Redis was away, is made up for once, however often it came round.
    """
    due = list(Schedule.objects.filter(enabled=True, next_at__lte=now).order_by("next_at")[:AT_ONCE])
    if due:
        queues.connection().ping()  # without Redis their time has not come yet
    return sum(_run(schedule, now) for schedule in due)


def pause_schedule(schedule: UUID) -> bool:
    """Begin no more runs; whether it was this call that said so."""
    with transaction.atomic():
        if Schedule.objects.filter(id=schedule, enabled=True).update(enabled=False) != 1:
            return False
        audit.note("schedule.paused", Schedule.objects.get(id=schedule))
    return True


def resume_schedule(schedule_id: UUID) -> bool:
    """Begin runs again, from the next time on: those that were left out are not made up for."""
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
    """Forget a schedule; its runs stay. Whether there was one."""
    with transaction.atomic():
        found = Schedule.objects.select_for_update().filter(id=schedule).first()
        if found is None:
            return False
        audit.note("schedule.removed", found, before={"rule": found.rule})
        found.delete()
    return True


def _run(schedule: Schedule, now: datetime) -> bool:
    """Begin one run, or note why not. The conditional update of `next_at` decides which clock does it."""
    try:
        next_at = timetable_of(schedule.rule).next_after(now, since=schedule.next_at)
    except BadInput as error:  # of another version's making
        Schedule.objects.filter(id=schedule.id).update(enabled=False, last_error=error.message)
        return False
    crawl, trouble = _next_crawl(schedule)
    with transaction.atomic():
        this_time = Schedule.objects.filter(id=schedule.id, enabled=True, next_at=schedule.next_at)
        if this_time.update(next_at=next_at, last_error=trouble) != 1:
            return False  # another clock was first, or somebody paused or removed it
        if crawl is not None:
            insert(crawl)
    if crawl is None:
        log.warning("schedule %s begins no crawl of %s: %s", schedule.id, schedule.start_urls[0], trouble)
        return False
    crash_point("schedule: committed")
    set_going(crawl)
    return True


def _next_crawl(schedule: Schedule) -> tuple[Crawl | None, str]:
    """The run that is to begin, or why it cannot. What may be asked is judged anew: settings, names and people change.
    Of nobody are those made on the command line."""
    previous = schedule.runs.order_by("-created_at").first()
    if previous is not None and not previous.is_over:
        return None, STILL_GOING
    options = CrawlOptions.from_plain(schedule.options)
    owner, allow_private = schedule.owner, EVERY_ADDRESS in options.private_hosts
    if owner is not None:
        facts = {"is_active": owner.is_active, "is_superuser": owner.is_superuser}
        if trouble := why_not_again(**facts, every_address=allow_private):
            return None, trouble
    try:
        quotas.check(owner, clock.now())
        crawl = drafted(schedule.start_urls, options, owner=owner, allow_private=allow_private, sealed=schedule.sealed)
    except BadInput as error:
        return None, error.message
    crawl.schedule, crawl.previous = schedule, previous
    crawl.group, crawl.group_controls = schedule.group, schedule.group_controls
    return crawl, ""
