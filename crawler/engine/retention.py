"""Deletes crawls that were over for longer than they are kept, and what else has run out. `clock` calls it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db.models import QuerySet

from crawler import audit, conf, logs, usage
from crawler.accounts import sessions
from crawler.core.lifecycle import State
from crawler.core.retention import LONGEST
from crawler.engine.delete import begin_delete
from crawler.models import NOT_OVER, Crawl

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
