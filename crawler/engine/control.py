"""Pause, resume and cancel. Each is one conditional update: repeating it, or racing another, changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from django.db import transaction
from redis.exceptions import RedisError

from crawler import audit, clock, logs, pages, queues, table
from crawler.accounts import quotas
from crawler.core.events import Event
from crawler.core.lifecycle import State, predecessors
from crawler.core.outcomes import Outcome
from crawler.crashpoints import crash_point
from crawler.engine.ending import clear_away, put_down
from crawler.engine.tell import send_out, tell
from crawler.engine.wake import keep_watch, wake
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl

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
        Frontier(queues.connection(), str(crawl.id)).hold()
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
    frontier.let_go()
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
    return owner is not None and not quotas.has_left(owner, now) and table.has_open(crawl_id)


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
        pages.close_rest(crawl_id, Outcome.CANCELLED, "the crawl was cancelled", clock.epoch_seconds())
        crawl.refresh_from_db()
        audit.note("crawl.cancelled", crawl)
        put_down(crawl)
    crash_point("cancel: committed")
    try:
        clear_away(crawl)
    except RedisError as error:
        log.warning("crawl %s is cancelled, but Redis could not be told: %s", crawl_id, error, extra=logs.of(crawl_id))
    return True
