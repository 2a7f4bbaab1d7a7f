"""Pause, resume and cancel. Each is one conditional update: repeating it, or racing another, changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import transaction
from redis.exceptions import RedisError

from crawler import clock, logs
from crawler.accounts import audit, quotas
from crawler.accounts.permissions import groups_of
from crawler.core.crawl.completion import State, predecessors
from crawler.core.crawl.notices import Event
from crawler.core.crawl.outcomes import Outcome
from crawler.core.errors import BadInput
from crawler.crashpoints import crash_point
from crawler.crawls.finalize import clear_away, put_down
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl, Schedule
from crawler.notices.outbox import send_out, tell
from crawler.queueing import queues
from crawler.queueing.wakeups import keep_watch, wake
from crawler.storage import queries, writer

log = logging.getLogger(__name__)


def pause(crawl_id: UUID) -> bool:
    """Nothing new is handed out; batches on their way end within seconds, and are taken in. Whether it was this call
    that paused."""
    with transaction.atomic():
        running = Crawl.objects.filter(id=crawl_id, state=State.RUNNING)
        if running.update(state=State.PAUSED, paused_at=clock.now()) != 1:
            # One that its owner's quota holds would go on by itself; now it waits for a person.
            held = Crawl.objects.filter(id=crawl_id, state=State.PAUSED, held_until__isnull=False)
            return held.update(held_until=None) == 1
        crawl = Crawl.objects.get(id=crawl_id)
        audit.note("crawl.paused", crawl)
        tell(crawl, Event.PAUSED)
    _let_batches_end(crawl)
    return True


def hold(crawl_id: UUID, until: datetime, *, may_tell: Callable[[], bool] = lambda: True) -> bool:
    """Pause a running crawl until then: its owner's pages of the day are used up, or there is no room for more. Whoever
    reconciles after that moment resumes it. Whether it was this call that paused. `may_tell`: whether people are to be
    told, asked only then."""
    with transaction.atomic():
        running = Crawl.objects.filter(id=crawl_id, state=State.RUNNING)
        if running.update(state=State.PAUSED, held_until=until, paused_at=clock.now()) != 1:
            return False
        crawl = Crawl.objects.get(id=crawl_id)
        if may_tell():
            tell(crawl, Event.PAUSED)
    _let_batches_end(crawl)
    with suppress(RedisError):  # it is full, then, and somebody looks as soon as it is not
        queues.plant_lifeline()  # somebody is to look at it when its hold is over
    return True


def _let_batches_end(crawl: Crawl) -> None:
    try:
        Frontier(queues.connection(), str(crawl.id)).mark_paused()
        send_out(crawl)
    except RedisError as error:  # then what is out takes its time, a good quarter of a minute at most
        log.warning("crawl %s is paused, but Redis could not be told: %s", crawl.id, error, extra=logs.of(crawl.id))


def resume(crawl_id: UUID) -> bool:
    """Go on with a paused crawl. Whether it was this call that resumed; not so while its owner's pages of the day are
    used up."""
    if _must_wait(crawl_id):
        return False
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id, state=State.PAUSED).first()
        if crawl is None:
            return False
        crawl.state, crawl.held_until = State.RUNNING, None
        _end_pause(crawl, clock.now())
        crawl.save(update_fields=["state", "held_until", "paused_at", "idle_seconds"])
        audit.note("crawl.resumed", crawl)
    crash_point("resume: committed")
    frontier = Frontier(queues.connection(), str(crawl_id))
    frontier.clear_paused()
    wake(frontier, crawl.site)
    keep_watch()
    return True


def _end_pause(crawl: Crawl, now: datetime) -> None:
    """Count the pause it is in, if it is in one; its row is locked, and saved afterwards."""
    if crawl.paused_at is not None:
        crawl.idle_seconds += max(0.0, (now - crawl.paused_at).total_seconds())
        crawl.paused_at = None


def _must_wait(crawl_id: UUID) -> bool:
    now = clock.now()
    held = Crawl.objects.filter(id=crawl_id, state=State.PAUSED, held_until__gt=now, owner__isnull=False)
    owner = held.values_list("owner", flat=True).first()
    return owner is not None and not quotas.has_left(owner, now) and queries.has_open(crawl_id)


def cancel(crawl_id: UUID) -> bool:
    """Close what is open as cancelled and end the crawl, in one transaction. Whether it was this call that cancelled.

    Fetch jobs find their leases gone and stop asking within seconds; what they report is too late and changes nothing.
    It works while Redis is away: what is left there is swept up by whoever reconciles.
    """
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id, state__in=predecessors(State.CANCELLED)).first()
        if crawl is None:
            return False
        crawl.state, crawl.finished_at = State.CANCELLED, clock.now()
        _end_pause(crawl, crawl.finished_at)
        crawl.save(update_fields=["state", "finished_at", "paused_at", "idle_seconds"])
        writer.close_rest(crawl_id, Outcome.CANCELLED, "the crawl was cancelled", clock.epoch_seconds())
        crawl.refresh_from_db()
        audit.note("crawl.cancelled", crawl)
        put_down(crawl)
    crash_point("cancel: committed")
    try:
        clear_away(crawl)
    except RedisError as error:
        log.warning("crawl %s is cancelled, but Redis could not be told: %s", crawl_id, error, extra=logs.of(crawl_id))
    return True


# Says who else may look at a crawl or a schedule, and whether it is kept whatever its age.


def share(item: Crawl | Schedule, user: User, group: Group | None, *, group_controls: bool = False) -> bool:
    """Share with a group, or (None) with nobody any more; whether anything changed. BadInput for a group that this
    person is not in. The caller has checked that the crawl or schedule is theirs to share."""
    if group is not None and group.pk != item.group_id and not groups_of(user).filter(pk=group.pk).exists():
        raise BadInput("group", f"You are not in the group {group.name}; choose one of yours.")
    controls = group_controls and group is not None
    if (item.group_id, item.group_controls) == (group.pk if group else None, controls):
        return False
    before = _shared(item)
    item.group, item.group_controls = group, controls
    with transaction.atomic():
        item.save(update_fields=["group", "group_controls"])
        audit.note(f"{item._meta.model_name}.shared", item, before=before, after=_shared(item))
    return True


def _shared(item: Crawl | Schedule) -> dict[str, object]:
    return {"group": item.group.name if item.group else None, "members_control": item.group_controls}


def share_begun(crawl: Crawl, owner: User, group: Group | None, *, group_controls: bool) -> None:
    """Share a crawl that has just begun, and the schedule it was begun with."""
    if group is None:
        return
    share(crawl, owner, group, group_controls=group_controls)
    if crawl.schedule is not None:
        share(crawl.schedule, owner, group, group_controls=group_controls)


def keep(crawl: Crawl, *, is_kept: bool) -> bool:
    """Keep a crawl whatever its age, or no longer; whether anything changed."""
    with transaction.atomic():
        if Crawl.objects.filter(pk=crawl.pk, keep=not is_kept).update(keep=is_kept) != 1:
            return False
        audit.note("crawl.kept" if is_kept else "crawl.not_kept", crawl)
    return True
