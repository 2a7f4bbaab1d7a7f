"""Releases traps: what was quarantined as an endless series is asked for after all, because a person knows better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from crawler import audit, clock, pages, quarantine, queues
from crawler.crashpoints import crash_point
from crawler.engine.rounds import begin_round_if_over
from crawler.engine.tell import send_out
from crawler.engine.wake import keep_watch, wake
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl


@dataclass(frozen=True)
class Released:
    """What was released."""

    traps: int
    pages: int  # that are open now
    left_out: int  # links that had no row, on pages that are not asked for again: they do not come back by this


def release(crawl_id: UUID, trap_ids: Sequence[int] | None = None) -> Released:
    """Release all traps of a crawl, or those among `trap_ids`, and open their pages. They quarantine nothing any more.

    A crawl that was over runs again, in its next round. What has no row because its trap had rows enough is found again
    only where a page links to it that is still to be asked for.
    """
    now, frontier = clock.epoch_seconds(), Frontier(queues.connection(), str(crawl_id))
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id).first()
        if crawl is None:
            return Released(0, 0, 0)
        chosen = quarantine.shown(crawl).filter(released=False)
        if trap_ids is not None:
            chosen = chosen.filter(id__in=list(trap_ids))
        left_out = sum(chosen.values_list("left_out", flat=True))
        traps, opened = pages.release(crawl_id, chosen, now)
        if traps:
            audit.note("crawl.traps_released", crawl, after={"traps": traps, "pages": opened})
        if opened:
            begin_round_if_over(crawl, now)
        frontier.window.rewind()  # before the commit: should we die behind it, the pages flow in all the same
    if opened:
        crash_point("release: committed")
        wake(frontier, crawl.site)
        keep_watch()
        send_out(crawl)
    return Released(traps, opened, left_out)
