"""Pause and resume. Each is one conditional update: repeating it, or racing another, changes nothing."""

from __future__ import annotations

from uuid import UUID

from crawler import queues
from crawler.core.lifecycle import State, predecessors
from crawler.engine.wake import wake
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl


def pause(crawl_id: UUID) -> bool:
    """Nothing new is handed out; batches on their way end and are taken in. Whether it was this call that paused."""
    return _move(crawl_id, State.PAUSED)


def resume(crawl_id: UUID) -> bool:
    """Go on with a paused crawl. Whether it was this call that resumed."""
    if not _move(crawl_id, State.RUNNING):
        return False
    crawl = Crawl.objects.get(id=crawl_id)
    wake(Frontier(queues.connection(), str(crawl_id)), crawl.site)
    return True


def _move(crawl_id: UUID, state: State) -> bool:
    changed = Crawl.objects.filter(id=crawl_id, state__in=predecessors(state)).update(state=state)
    return changed == 1
