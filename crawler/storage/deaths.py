"""What the death of a worker changes in the rows of its pages; part of the writer."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F

from crawler.core.pages.outcomes import Outcome
from crawler.models import Page
from crawler.storage import queries
from crawler.storage.counters import change_of
from crawler.storage.writer import OnClosed, close_pages


def count_death(
    crawl: UUID,
    ids: Sequence[int],
    token: str,
    now: float,
    *,
    in_hand: tuple[int, int] | None,
    crashed_from: int | None,
    on_closed: OnClosed | None = None,
) -> list[int]:
    """A worker died with these pages in its batch: the open ones become suspects. The death and an attempt count for
    the page `in_hand` (its id and the number of the attempt), once per lease (`token`), unless its result has arrived.

    After `crashed_from` deaths the page is closed as crashed; None = it was not alone in the batch. Returns the closed
    pages; `on_closed` as for `writer.apply`.
    """
    page, attempt = in_hand or (0, 0)
    with change_of(crawl, now) as (row, change):
        pages = Page.objects.filter(id__in=queries.still_open(crawl, ids), status=Page.OPEN)
        blamed = pages.filter(id=page, attempts__lt=attempt).exclude(died_with=token)
        counted = blamed.update(attempts=F("attempts") + 1, deaths=F("deaths") + 1)
        change.retries += counted
        pages.update(died_with=token)
        deaths = pages.get(id=page).deaths if counted else 0
        if not counted or crashed_from is None or deaths < crashed_from:
            return []
        error = f"the worker died {deaths} times while processing this page"
        close_pages(pages.filter(id=page), Outcome.CRASHED, error, change, now)
        if on_closed is not None:
            on_closed(row, [page])
        return [page]


def close_lost(crawl: UUID, ids: Sequence[int], now: float, on_closed: OnClosed | None = None) -> list[int]:
    """A worker died with these pages in its batch, and the crawl acknowledges early: close the open ones as lost.
    Returns those that are lost now, those from before a crash here among them; `on_closed` as for `writer.apply`."""
    with change_of(crawl, now) as (row, change):
        still_open = sorted(queries.still_open(crawl, ids))
        if still_open:
            error = "its worker died, and this crawl acknowledges pages early"
            close_pages(Page.objects.filter(id__in=still_open), Outcome.LOST, error, change, now)
            if on_closed is not None:
                on_closed(row, still_open)
        return list(Page.objects.filter(id__in=ids, outcome=Outcome.LOST).values_list("id", flat=True))
