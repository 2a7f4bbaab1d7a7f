"""Retries dead letters: reopens failed pages, and with them a crawl that was over; releases traps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from crawler import clock
from crawler.accounts import audit
from crawler.core.options.events import Event
from crawler.core.protocol.completion import State, predecessors
from crawler.crashpoints import crash_point
from crawler.crawls.control import wake_manager
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl, Page
from crawler.notices.outbox import add_notice
from crawler.queueing import queues
from crawler.storage import additions, quarantine, writer

PAGES_PER_TRANSACTION = 5_000
PAGES_PER_CALL = 20_000
CRAWLS_PER_CALL = 100


def begin_round_if_over(crawl: Crawl, now: float) -> None:
    """Begin the next round of a crawl that is over; does nothing for others. The caller has locked the crawl's row, and
    opened pages of it in the same transaction."""
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
    add_notice(crawl, Event.STARTED)


def retry_failed(crawl_id: UUID, page_ids: Sequence[int] | None = None) -> int:
    """Retry all dead letters of a crawl, or those among `page_ids`; returns how many.

    A crawl that was over runs again in its next round, and finishes with another notice. A paused one stays paused.
    """
    now, frontier = clock.epoch_seconds(), Frontier(queues.connection(), str(crawl_id))
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id).first()
        if crawl is None or frontier.is_being_deleted():
            return 0
        reopened = additions.reopen(crawl_id, page_ids, now)
        if reopened:
            begin_round_if_over(crawl, now)
            audit.note("crawl.retried", crawl, after={"pages": reopened})
        frontier.ready_queue.rewind()  # before the commit: a crash behind it must not leave pages out
    if not reopened:
        return 0
    crash_point("retry: committed")
    frontier.requeue_dead_letters(page_ids)
    wake_manager(crawl)
    return reopened


@dataclass(frozen=True)
class RetryCount:
    """Dead letters of several crawls that were retried in one call."""

    pages: int
    crawls: int
    has_more: bool  # there are others: the call does only so many


def retry_chosen(letters: QuerySet[Page], now: float) -> RetryCount:
    """Retry these dead letters of any crawls, as `retry_failed` does crawl by crawl: PAGES_PER_TRANSACTION at a time,
    and PAGES_PER_CALL and CRAWLS_PER_CALL at most. Calls are repeated until there are no more; those that were retried
    before are no dead letters any more. Pages that fail again meanwhile, after `now`, are left for a later call."""
    letters = letters.filter(given_up_at__lte=now).order_by()
    crawls = list(letters.values_list("crawl", flat=True).distinct()[: CRAWLS_PER_CALL + 1])
    pages, reopened = 0, set[UUID]()
    for crawl in crawls[:CRAWLS_PER_CALL]:
        while room := min(PAGES_PER_TRANSACTION, PAGES_PER_CALL - pages):
            ids = list(letters.filter(crawl=crawl).order_by("id").values_list("id", flat=True)[:room])
            done = retry_failed(crawl, ids) if ids else 0
            if not done:
                break
            reopened.add(crawl)
            pages += done
        else:
            return RetryCount(pages, len(reopened), letters.exists())
    return RetryCount(pages, len(reopened), len(crawls) > CRAWLS_PER_CALL)


@dataclass(frozen=True)
class ReleasedTraps:
    """What was released."""

    traps: int
    pages: int  # that are open now
    left_out: int  # links without a row, on pages that are not fetched again: they are not recovered


def release(crawl_id: UUID, trap_ids: Sequence[int] | None = None) -> ReleasedTraps:
    """Release all traps of a crawl, or those among `trap_ids`, and open their pages. They no longer quarantine pages.

    A crawl that was over runs again in its next round. A URL without a row, because its trap had enough, is found again
    only if a page that is still to be fetched links to it.
    """
    now, frontier = clock.epoch_seconds(), Frontier(queues.connection(), str(crawl_id))
    with transaction.atomic():
        crawl = Crawl.objects.select_for_update().filter(id=crawl_id).first()
        if crawl is None:
            return ReleasedTraps(0, 0, 0)
        chosen = quarantine.shown(crawl).filter(released=False)
        if trap_ids is not None:
            chosen = chosen.filter(id__in=list(trap_ids))
        left_out = sum(chosen.values_list("left_out", flat=True))
        traps, opened = writer.release(crawl_id, chosen, now)
        if traps:
            audit.note("crawl.traps_released", crawl, after={"traps": traps, "pages": opened})
        if opened:
            begin_round_if_over(crawl, now)
        frontier.ready_queue.rewind()  # before the commit: a crash behind it must not leave pages out
    if opened:
        crash_point("release: committed")
        wake_manager(crawl)
    return ReleasedTraps(traps, opened, left_out)
