"""Pauses, holds, resumes, finishes, cancels, finalizes, shares and keeps crawls.

Each change of state is one conditional update: idempotent, and safe under concurrency.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import transaction
from redis.exceptions import RedisError

from crawler import clock, conf, logs
from crawler.accounts import audit, quotas
from crawler.accounts.permissions import groups_of
from crawler.core.errors import BadInput
from crawler.core.options.events import Event
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State, predecessors
from crawler.crashpoints import crash_point
from crawler.crawls.crawl_checks import crawl_checks
from crawler.frontier.frontier import Frontier
from crawler.models import NOT_OVER, Crawl, Disagreement, Schedule
from crawler.notices.outbox import add_notice, request_delivery
from crawler.queueing import queues
from crawler.queueing.end_signal import announce_end
from crawler.queueing.wakeups import ensure_poller, update_rescue_job, wake
from crawler.reports.progress import came_to_nothing
from crawler.storage import queries, writer
from crawler.storage.content.objects import sweep

log = logging.getLogger(__name__)


def finalize(crawl: Crawl) -> None:
    """Audit a crawl whose row says that it is over, and write its notice; called in the same transaction."""
    _audit(crawl)
    add_notice(crawl, _end_event(crawl))
    transaction.on_commit(partial(announce_end, str(crawl.id)))
    log.info("crawl %s of %s is %s", crawl.id, crawl.site, crawl.state, extra=logs.of(crawl.id))


def clean_up(crawl: Crawl) -> None:
    """Delete the Redis keys of a crawl that is over, and send its notice. Idempotent."""
    frontier = Frontier(queues.connection(), str(crawl.id))
    frontier.clear()
    frontier.dead_letters.expire_in(conf.dead_letter_seconds())
    crash_point("end: keys deleted")
    request_delivery(crawl)
    update_rescue_job()
    if crawl.chosen.keep:
        sweep(crawl.id)


def _audit(crawl: Crawl) -> None:
    """Recount the rows. The counters change with the rows and must equal them; if they do not, the rows are right."""
    counted = queries.count_rows(crawl.id)
    if counted == crawl.tallies:
        return
    difference = f"the counters said {crawl.tallies}, the rows say {counted}"
    log.error("crawl %s: %s", crawl.id, difference, extra=logs.of(crawl.id))
    Disagreement.objects.create(crawl=crawl, what=difference)
    crawl.discovered, crawl.outcomes, crawl.statuses = counted.discovered, counted.outcomes, counted.statuses
    crawl.save(update_fields=["discovered", "outcomes", "statuses"])


def _end_event(crawl: Crawl) -> Event:
    if crawl.state == State.CANCELLED:
        return Event.CANCELLED
    return Event.FAILED if came_to_nothing(crawl) else Event.FINISHED


def pause(crawl_id: UUID, reason: str = "") -> bool:
    """Nothing new is handed out; batches under way end within seconds, and their results are processed. `reason`: why
    it waits for a user, if none paused it. True if this call paused the crawl."""
    with transaction.atomic():
        running = Crawl.objects.filter(id=crawl_id, state=State.RUNNING)
        if running.update(state=State.PAUSED, paused_at=clock.now(), pause_reason=reason) != 1:
            # A held crawl would resume by itself; now it waits for the user.
            held = Crawl.objects.filter(id=crawl_id, state=State.PAUSED, held_until__isnull=False)
            return held.update(held_until=None) == 1
        crawl = Crawl.objects.get(id=crawl_id)
        audit.note("crawl.paused", crawl)
        add_notice(crawl, Event.PAUSED)
    _end_batches(crawl)
    return True


def check_failures(crawl: Crawl) -> bool:
    """Whether its pages can be requested, as far as capabilities know. Otherwise it is paused, with the reason."""
    why = next(filter(None, (check.failure(crawl) for check in crawl_checks())), "")
    if why and pause(crawl.id, why):
        log.warning("crawl %s is paused: %s", crawl.id, why, extra=logs.of(crawl.id))
    return not why


def hold(crawl_id: UUID, until: datetime, *, may_notify: Callable[[], bool] = lambda: True) -> bool:
    """Pause a running crawl until then: its owner's daily page quota is exhausted, or capacity is short. `reconcile`
    resumes it after that time. True if this call paused it; only then `may_notify` is asked whether to notify users."""
    with transaction.atomic():
        running = Crawl.objects.filter(id=crawl_id, state=State.RUNNING)
        if running.update(state=State.PAUSED, held_until=until, paused_at=clock.now()) != 1:
            return False
        crawl = Crawl.objects.get(id=crawl_id)
        if may_notify():
            add_notice(crawl, Event.PAUSED)
    _end_batches(crawl)
    with suppress(RedisError):  # Redis is full; `reconcile` runs as soon as it is not
        queues.ensure_rescue_job()  # a starting worker resumes it when its hold is over
    return True


def _end_batches(crawl: Crawl) -> None:
    with if_redis_responds(crawl, "paused"):  # else batches under way end by themselves, within half a minute
        Frontier(queues.connection(), str(crawl.id)).mark_paused()
        request_delivery(crawl)


@contextmanager
def if_redis_responds(crawl: Crawl, state: str) -> Iterator[None]:
    """What follows the commit of a change; if Redis does not respond, it is logged that the crawl is in this state, and
    `reconcile` does the rest."""
    try:
        yield
    except RedisError as error:
        log.warning("crawl %s is %s, but Redis did not respond: %s", crawl.id, state, error, extra=logs.of(crawl.id))


def wake_manager(crawl: Crawl) -> None:
    """Wake the manager of a crawl that is committed, and send its notices. If that fails, `reconcile` does it."""
    wake(Frontier(queues.connection(), str(crawl.id)), crawl.site)
    ensure_poller()
    request_delivery(crawl)


def resume(crawl_id: UUID) -> bool:
    """Resume a paused crawl. True if this call resumed it; False while its owner's daily page quota is exhausted."""
    if _is_out_of_quota(crawl_id):
        return False
    with suppress(RedisError):  # then nothing can have failed
        for check in crawl_checks():
            check.resumed(crawl_id)
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id, state=State.PAUSED).first()
        if crawl is None:
            return False
        crawl.state, crawl.held_until, crawl.pause_reason = State.RUNNING, None, ""
        _end_pause(crawl, clock.now())
        crawl.save(update_fields=["state", "held_until", "pause_reason", "paused_at", "idle_seconds"])
        audit.note("crawl.resumed", crawl)
    crash_point("resume: committed")
    frontier = Frontier(queues.connection(), str(crawl_id))
    frontier.clear_paused()
    wake(frontier, crawl.site)
    ensure_poller()
    return True


def _end_pause(crawl: Crawl, now: datetime) -> None:
    """Add the current pause, if any, to the idle time; the caller has locked the row and saves it."""
    if crawl.paused_at is not None:
        crawl.idle_seconds += max(0.0, (now - crawl.paused_at).total_seconds())
        crawl.paused_at = None


def _is_out_of_quota(crawl_id: UUID) -> bool:
    now = clock.now()
    held = Crawl.objects.filter(id=crawl_id, state=State.PAUSED, held_until__gt=now, owner__isnull=False)
    owner = held.values_list("owner", flat=True).first()
    return owner is not None and not quotas.has_left(owner, now) and queries.has_open(crawl_id)


def finish(crawl_id: UUID) -> bool:
    """No longer keep a crawl open: it finishes in the usual way once no page is open. True if this call
    asked for it."""
    queues.connection().ping()  # if Redis does not respond, nothing is changed
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id, state__in=NOT_OVER).first()
        if crawl is None or not crawl.chosen.stay_open:
            return False
        crawl.options = {**crawl.options, "stay_open": False}
        crawl.save(update_fields=["options"])
        audit.note("crawl.finish_requested", crawl)
    crash_point("finish: committed")
    with if_redis_responds(crawl, "to finish"):
        wake_manager(crawl)
    return True


def cancel(crawl_id: UUID) -> bool:
    """Close open pages as cancelled and end the crawl, in one transaction. True if this call cancelled it.

    Fetch jobs find their leases gone and stop within seconds; their reports come too late and change nothing. It works
    while Redis is down: `reconcile` deletes the keys later.
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
        finalize(crawl)
    crash_point("cancel: committed")
    with if_redis_responds(crawl, "cancelled"):
        clean_up(crawl)
    return True


def share(item: Crawl | Schedule, user: User, group: Group | None, *, group_controls: bool = False) -> bool:
    """Share with a group, or stop sharing (None); True if anything changed. BadInput for a group that this user is not
    in. The caller has checked that the user may share the crawl or schedule."""
    if group is not None and group.pk != item.group_id and not groups_of(user).filter(pk=group.pk).exists():
        raise BadInput("group", f"You are not a member of the group {group.name}; choose one of your groups.")
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
    """Share a crawl that was just started, and the schedule it belongs to."""
    if group is None:
        return
    share(crawl, owner, group, group_controls=group_controls)
    if crawl.schedule is not None:
        share(crawl.schedule, owner, group, group_controls=group_controls)


def keep(crawl: Crawl, *, is_kept: bool) -> bool:
    """Exempt a crawl from retention, or no longer; True if anything changed."""
    with transaction.atomic():
        if Crawl.objects.filter(pk=crawl.pk, keep=not is_kept).update(keep=is_kept) != 1:
            return False
        audit.note("crawl.kept" if is_kept else "crawl.not_kept", crawl)
    return True
