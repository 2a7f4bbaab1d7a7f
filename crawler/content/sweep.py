"""Deletes objects of a crawl that is over which no page refers to: somebody died between saving one and leaving the
results that refer to it, or the results came too late to count."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from crawler import clock
from crawler.content import storage
from crawler.models import PageFacts

log = logging.getLogger(__name__)

JUST_NOW = timedelta(seconds=5)  # whoever saved an object so lately may be about to refer to it
AT_ONCE = 2000  # rows in memory


def sweep(crawl: UUID) -> int:
    """How many were deleted. A storage in trouble costs nothing but the room."""
    try:
        return _sweep(crawl)
    except Exception:
        log.exception("objects of crawl %s that nothing refers to could not be deleted", crawl)
        return 0


def _sweep(crawl: UUID) -> int:
    now = clock.now()
    loose = {name for name in storage.objects_of(str(crawl)) if storage.saved_at(name) < now - JUST_NOW}
    if not loose:
        return 0
    for kept in PageFacts.objects.filter(crawl_id=crawl).values_list("kept", flat=True).iterator(AT_ONCE):
        loose.difference_update(place[0] for place in kept.values() if isinstance(place, list))
    for name in loose:
        storage.delete(name)
    return len(loose)
