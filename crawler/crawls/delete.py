"""Deletes a crawl and all that belongs to it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from crawler import conf, logs
from crawler.accounts import audit, sessions
from crawler.content.storage import delete_of
from crawler.core.crawl.completion import State
from crawler.core.crawl.schedule import LONGEST
from crawler.crashpoints import crash_point
from crawler.crawls.control import cancel
from crawler.frontier.frontier import Frontier
from crawler.models import NOT_OVER, Crawl
from crawler.queueing import queues
from crawler.queueing.wakeups import keep_or_cut_lifeline
from crawler.reports import result_cache
from crawler.storage import usage, writer

ROWS_AT_ONCE = 5000  # in one transaction, so that other crawls can write in between
STEPS_AT_ONCE = 10  # of a deletion nobody waits for


def delete(crawl_id: UUID) -> bool:
    """End the crawl if it is not over, then delete its rows and its keys. Whether there was such a crawl.

    What a crash leaves is a crawl that is over, with a part of its pages. Whoever reconciles goes on with it.
    """
    if not _condemned(crawl_id):
        return False
    while not delete_some(crawl_id):
        crash_point("delete: some rows deleted")
    return True


def begin_delete(*crawl_ids: UUID) -> None:
    """The same of one or many: all of them end, and as much of them is deleted as takes about a second; whoever
    reconciles goes on with it."""
    steps = iter(range(STEPS_AT_ONCE))
    for crawl_id in [crawl_id for crawl_id in crawl_ids if _condemned(crawl_id)]:
        any(delete_some(crawl_id) for _ in steps)


def _condemned(crawl_id: UUID) -> bool:
    """End the crawl, and note that it is to be deleted, once; whether there was one."""
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        return False
    cancel(crawl_id)
    crash_point("delete: cancelled")
    frontier = Frontier(queues.connection(), str(crawl_id))
    if not frontier.is_marked_deleted():
        with transaction.atomic():  # its rows go in many others; from here on somebody ends the deletion
            audit.note("crawl.deleted", crawl, before=_facts_of(crawl))
            frontier.mark_deleted()
    return True


def _facts_of(crawl: Crawl) -> dict[str, object]:
    owner = crawl.owner.get_username() if crawl.owner is not None else None
    return {"state": crawl.state, "owner": owner, "discovered": crawl.discovered}


def delete_some(crawl_id: UUID) -> bool:
    """Delete some rows of a crawl that is over, and last of all its kept content; whether that was the end of it.
    ServiceDown when the storage of that content does not answer; then it can be gone on with later."""
    if writer.delete_rows(crawl_id, ROWS_AT_ONCE):
        return False
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is not None and crawl.chosen.keep:
        delete_of(str(crawl_id))
    result_cache.forget(crawl_id)
    Crawl.objects.filter(id=crawl_id).delete()
    Frontier(queues.connection(), str(crawl_id)).delete()
    keep_or_cut_lifeline()
    return True


# Deletes crawls that were over for longer than they are kept, and what else has run out. `clock` calls it.

AT_ONCE = 3  # crawls begun to be deleted in one go; the others' turn comes a moment later

log = logging.getLogger(__name__)


def sweep(now: datetime) -> int:
    """Begin to delete some of the crawls whose time is up; how many. Their rows go bit by bit: here, and by whoever
    reconciles."""
    doomed = list(outdated(now)[:AT_ONCE])
    for crawl in doomed:
        log.info("crawl %s of %s is deleted: its time was up", crawl.id, crawl.site, extra=logs.of(crawl.id))
        begin_delete(crawl.id)
    return len(doomed)


def outdated(now: datetime) -> QuerySet[Crawl]:
    """Crawls whose time is up, the oldest first. Not those somebody keeps, and none that the run after it, which is
    not over, is compared with."""
    days = conf.keep_days()
    if not days:
        return Crawl.objects.none()
    over = [state for state in State if state.is_over]
    old = Crawl.objects.filter(state__in=over, keep=False, finished_at__lte=now - timedelta(days=min(days, LONGEST)))
    return old.exclude(next_runs__state__in=NOT_OVER).order_by("finished_at")


def forget_expired(now: datetime) -> None:
    """Forget sessions that have run out, what was asked for more than a year ago, and what the audit log was to keep
    until now."""
    sessions.forget_expired()
    usage.forget_before(now.date() - timedelta(days=usage.KEPT_DAYS))
    if days := conf.audit_days():
        audit.forget_before(now - timedelta(days=min(days, LONGEST)))
