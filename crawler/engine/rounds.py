"""Lets a crawl that was over run once more, in its next round: it finishes anew, with a notice of its own."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db.models import F

from crawler.core.events import Event
from crawler.core.lifecycle import State, predecessors
from crawler.engine.tell import tell
from crawler.models import Crawl


def begin_round_if_over(crawl: Crawl, now: float) -> None:
    """Begin the next round of a crawl that is over; one that is not goes on as it is. The crawl's row is locked, and
    pages of it were opened in the same transaction."""
    if not crawl.is_over:
        return
    over = [state for state in predecessors(State.RUNNING) if state.is_over]
    began = datetime.fromtimestamp(now, UTC)
    idle = (began - crawl.finished_at).total_seconds() if crawl.finished_at else 0.0
    Crawl.objects.filter(id=crawl.id, state__in=over).update(
        state=State.RUNNING,
        finished_at=None,
        round=F("round") + 1,
        round_began_at=began,
        idle_seconds=F("idle_seconds") + max(0.0, idle),
    )
    tell(crawl, Event.STARTED)
