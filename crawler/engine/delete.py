"""Deletes a crawl and all that belongs to it."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from crawler import audit, pages, queues
from crawler.content.storage import delete_of
from crawler.crashpoints import crash_point
from crawler.engine.control import cancel
from crawler.engine.wake import keep_or_cut_lifeline
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl
from crawler.reports import kept

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
    if not frontier.is_condemned():
        with transaction.atomic():  # its rows go in many others; from here on somebody ends the deletion
            audit.note("crawl.deleted", crawl, before=_facts_of(crawl))
            frontier.condemn()
    return True


def _facts_of(crawl: Crawl) -> dict[str, object]:
    owner = crawl.owner.get_username() if crawl.owner is not None else None
    return {"state": crawl.state, "owner": owner, "discovered": crawl.discovered}


def delete_some(crawl_id: UUID) -> bool:
    """Delete some rows of a crawl that is over, and last of all its kept content; whether that was the end of it.
    ServiceDown when the storage of that content does not answer; then it can be gone on with later."""
    if pages.delete_rows(crawl_id, ROWS_AT_ONCE):
        return False
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is not None and crawl.chosen.keep:
        delete_of(str(crawl_id))
    kept.forget(crawl_id)
    Crawl.objects.filter(id=crawl_id).delete()
    Frontier(queues.connection(), str(crawl_id)).bury()
    keep_or_cut_lifeline()
    return True
