"""Deletes a crawl and all that belongs to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from crawler import conf, logs
from crawler.accounts import audit, logins
from crawler.core.errors import ServiceDown
from crawler.core.options.schedule import MAX_KEEP_DAYS
from crawler.core.protocol.completion import State
from crawler.crashpoints import crash_point
from crawler.crawls.control import cancel, clean_up
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CRAWLS
from crawler.models import NOT_OVER, Crawl, LinkIndex
from crawler.queueing import queues
from crawler.queueing.duties import NOTHING, STEPS_PER_SCAN, DutyResult, Scan
from crawler.queueing.wakeups import update_rescue_job
from crawler.reports import result_cache
from crawler.storage import sql, writer
from crawler.storage.content.objects import delete_of

DELETE_STEP_S = 0.1  # about the duration of a step, so that other crawls can write in between
DELETE_ROWS_PER_TRANSACTION = 5000  # at most
FIRST_STEP_ROWS, LEAST_STEP_ROWS = 1000, 500
LINK_INDEX_PARTS_PER_STEP = 500  # of some 5 KB each
DELETE_STEPS_PER_CALL = 10  # of a deletion in the background


def delete(crawl_id: UUID) -> bool:
    """End the crawl if it is not over, then delete its rows and its keys. True if the crawl existed.

    A crash leaves a crawl that is over, with a part of its pages. `reconcile` continues the deletion.
    """
    if not _mark_deleted(crawl_id):
        return False
    for _ in delete_in_steps(crawl_id):
        crash_point("delete: some rows deleted")
    return True


def begin_delete(*crawl_ids: UUID) -> None:
    """Begin to delete one or many crawls: all of them end, and about a second is spent on deleting rows; `reconcile`
    continues."""
    steps = iter(range(DELETE_STEPS_PER_CALL))
    for crawl_id in [crawl_id for crawl_id in crawl_ids if _mark_deleted(crawl_id)]:
        for _ in zip(steps, delete_in_steps(crawl_id), strict=False):
            pass


def clean_up_left_over(scan: Scan) -> DutyResult:
    """Delete the Redis keys of crawls that are over or deleted: a process died before doing so, or reported too late.
    Crawls that are not in this database belong to another installation."""
    alive = {str(crawl.id) for crawl in scan.crawls}
    known = {raw.decode() for raw in cast(set[bytes], scan.redis.smembers(CRAWLS))}
    steps = iter(range(STEPS_PER_SCAN))  # for all of them, because the caller waits
    for name in known - alive:
        crawl = Crawl.objects.filter(id=name).first()
        frontier = Frontier(scan.redis, name)
        if frontier.is_being_deleted():
            _resume_deletion(UUID(name), steps)
        elif crawl is not None and crawl.is_over:
            clean_up(crawl)
    return NOTHING


def _resume_deletion(crawl_id: UUID, steps: Iterator[int]) -> None:
    try:
        for _ in zip(steps, delete_in_steps(crawl_id), strict=False):
            pass
    except ServiceDown as error:
        log.warning("crawl %s is not deleted yet: %s", crawl_id, error)


def _mark_deleted(crawl_id: UUID) -> bool:
    """End the crawl and mark it for deletion, once; True if it existed."""
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        return False
    cancel(crawl_id)
    crash_point("delete: cancelled")
    frontier = Frontier(queues.connection(), str(crawl_id))
    if not frontier.is_being_deleted():
        with transaction.atomic():  # its rows are deleted in many others; from here on the deletion is always completed
            audit.note("crawl.deleted", crawl, before=_facts_of(crawl))
            frontier.mark_deleted()
    return True


def _facts_of(crawl: Crawl) -> dict[str, object]:
    owner = crawl.owner.get_username() if crawl.owner is not None else None
    return {"state": crawl.state, "owner": owner, "discovered": crawl.discovered}


def delete_in_steps(crawl_id: UUID) -> Iterator[None]:
    """Delete the pages of a crawl that is over, some in each step, and last its kept content and its own row.
    ServiceDown if the content storage does not respond. The deletion can be left after any step and continued later."""
    yield from _delete_pages(crawl_id)
    yield from _delete_link_index(crawl_id)
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is not None and crawl.chosen.keep:
        delete_of(str(crawl_id))
    result_cache.forget(crawl_id)
    writer.delete_crawl(crawl_id)
    Frontier(queues.connection(), str(crawl_id)).delete()
    update_rescue_job()


def _delete_pages(crawl_id: UUID) -> Iterator[None]:
    last, rows = 0, FIRST_STEP_ROWS
    while True:
        began = time.monotonic()
        reached = writer.delete_rows(crawl_id, last, min(rows, DELETE_ROWS_PER_TRANSACTION))
        if reached is None:
            return
        last, rows = reached, rows_of_next_step(rows, time.monotonic() - began)
        yield


def _delete_link_index(crawl_id: UUID) -> Iterator[None]:
    parts = LinkIndex.objects.filter(crawl_id=crawl_id).values_list("id", flat=True)
    while ids := list(parts[:LINK_INDEX_PARTS_PER_STEP]):
        LinkIndex.objects.filter(id__in=ids).delete()
        yield


def rows_of_next_step(rows: int, took: float) -> int:
    """How many pages to delete next, when so many took so many seconds: as many as take about DELETE_STEP_S."""
    fitting = rows * min(2, DELETE_STEP_S / max(took, 0.001))
    return max(LEAST_STEP_ROWS, min(round(fitting), DELETE_ROWS_PER_TRANSACTION))


CRAWLS_PER_SWEEP = 3  # the others follow in the next call

log = logging.getLogger(__name__)


def delete_past_retention(now: datetime) -> int:
    """Begin to delete some of the crawls past retention; returns how many. Their rows are deleted in steps, here and by
    `reconcile`."""
    expired = list(past_retention(now)[:CRAWLS_PER_SWEEP])
    for crawl in expired:
        log.info("crawl %s of %s is deleted: its time was up", crawl.id, crawl.site, extra=logs.of(crawl.id))
        begin_delete(crawl.id)
    return len(expired)


def past_retention(now: datetime) -> QuerySet[Crawl]:
    """Crawls past retention, the oldest first. Not those marked as kept, and not those a running next run is compared
    with."""
    days = conf.keep_days()
    if not days:
        return Crawl.objects.none()
    over = [state for state in State if state.is_over]
    old = Crawl.objects.filter(
        state__in=over, keep=False, finished_at__lte=now - timedelta(days=min(days, MAX_KEEP_DAYS))
    )
    return old.exclude(next_runs__state__in=NOT_OVER).order_by("finished_at")


def forget_expired(now: datetime) -> None:
    """Delete expired sessions, old usage counts, and audit log entries past their retention."""
    logins.forget_expired()
    sql.delete_before(now.date() - timedelta(days=sql.KEPT_DAYS))
    if days := conf.audit_days():
        audit.forget_before(now - timedelta(days=min(days, MAX_KEEP_DAYS)))
