"""Discards crawls whose list was not read to its end: half a list is none."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from crawler import pages
from crawler.core.lifecycle import State
from crawler.models import Crawl

SILENCE = timedelta(seconds=60)  # after which whoever read the list is taken for dead
ROWS_AT_ONCE = 5000  # in one transaction, so that other crawls can write in between


def discard(crawl_id: UUID) -> None:
    """Delete a crawl that is loading; not one that was let run, or was cancelled, meanwhile."""
    _condemn(Crawl.objects.filter(id=crawl_id))
    while not discard_some(crawl_id):
        pass


def discard_abandoned(at_most: int) -> None:
    """Go on deleting what nobody loads any more, in so many steps a crawl. The database's clock judges all loaders."""
    _condemn(Crawl.objects.filter(loaded_at__lt=Now() - SILENCE))
    for crawl_id in list(Crawl.objects.filter(state=State.LOADING, loaded_at=None).values_list("id", flat=True)):
        any(discard_some(crawl_id) for _ in range(at_most))


def discard_some(crawl_id: UUID) -> bool:
    """Delete some rows of a condemned crawl; whether that was the end of it. Nothing of it is in Redis yet."""
    with transaction.atomic():
        condemned = Crawl.objects.select_for_update().filter(id=crawl_id, state=State.LOADING, loaded_at=None).first()
        if condemned is None:
            return True  # another got there first
        if pages.delete_rows(crawl_id, ROWS_AT_ONCE):
            return False
        condemned.delete()
    return True


def _condemn(crawls: QuerySet[Crawl]) -> None:
    """Take the sign of life away: a loader that was only slow finds out with its next lines, and stops."""
    crawls.filter(state=State.LOADING).update(loaded_at=None)
