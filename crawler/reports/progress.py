"""Where a crawl stands right now, as plain values for the web page and the command line's progress bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from crawler.core import progress
from crawler.core.outcomes import Outcome
from crawler.core.recent import KEPT, is_trouble
from crawler.core.urls import key_of
from crawler.core.work import PAGE
from crawler.models import Crawl, Page
from crawler.reports.receipt import receipt_of

SHOWN = KEPT  # pages in a list on the crawl page


def progress_of(crawl: Crawl, now: float) -> dict[str, Any]:
    """State, counts, how far it is (`done` of `total`, see `core.progress.standing`), pages a second and, when one can
    be honest, seconds left (`eta`, else None)."""
    tallies, max_pages = crawl.tallies, crawl.chosen.max_pages
    stands = progress.standing(tallies, max_pages)
    running = not crawl.is_over
    return {
        "id": str(crawl.id),
        "state": str(crawl.state),
        "discovered": tallies.discovered,
        "closed": tallies.closed,
        "open": tallies.open,
        "done": stands.done,
        "total": stands.total,
        "at_most": stands.at_most,
        "percent": stands.percent,
        "rate": rate_of(crawl, now) if running else None,
        "eta": progress.eta(crawl.samples, now, tallies, max_pages) if running else None,
        "receipt": receipt_of(crawl),
    }


def standing_of(crawl: Crawl) -> progress.Standing:
    """How far it is."""
    return progress.standing(crawl.tallies, crawl.chosen.max_pages)


def rate_of(crawl: Crawl, now: float) -> float | None:
    """Pages a second lately, of those its standing counts; None while there is too little to measure."""
    if crawl.chosen.max_pages is None:
        return progress.rate(crawl.samples, now, crawl.tallies.closed)
    return progress.rate(crawl.samples, now, crawl.tallies.asked, progress.ASKED)


def last_pages(crawl: Crawl) -> list[Page]:
    """The pages closed last, newest first."""
    if "closed" in crawl.recent:
        return [page for page in _in_order(crawl.recent["closed"]) if page.fetched_at is not None]
    found = Page.objects.filter(crawl=crawl, fetched_at__isnull=False)  # a crawl from before they were kept
    return list(found.order_by("-fetched_at")[:SHOWN])


def troubled_pages(crawl: Crawl) -> list[Page]:
    """The newest pages that failed or answered with an error status, dead letters aside: they have a list of theirs."""
    if "troubled" in crawl.recent:
        return [page for page in _in_order(crawl.recent["troubled"]) if _is_troubled(page)]
    found = Page.objects.filter(crawl=crawl, given_up=False, outcome__in=filter(is_trouble, Outcome))
    return list(found.order_by("-id")[:SHOWN])


def start_trouble(crawl: Crawl) -> list[Page]:
    """Start pages that gave nothing to follow: closed without a 2xx or 3xx response, and not by cancelling. From the
    pages of a list nothing was to be followed."""
    if crawl.source:
        return []
    fine = [Outcome.SUCCESS, Outcome.REDIRECT, Outcome.UNCHANGED, Outcome.CANCELLED]
    return list(_start_pages(crawl).filter(status=Page.CLOSED).exclude(outcome__in=fine).order_by("id"))


def came_to_nothing(crawl: Crawl) -> bool:
    """Whether a crawl that is finished could not do what was asked: none of its start pages gave anything. It is what
    `bin/crawl` ends with exit code 1 for."""
    troubled = start_trouble(crawl)
    return bool(troubled) and len(troubled) == start_count(crawl)


def start_count(crawl: Crawl) -> int:
    """How many start pages there are."""
    return _start_pages(crawl).count()


def _start_pages(crawl: Crawl) -> QuerySet[Page]:
    """By their keys: an index finds those among a million pages. No list is asked for here, whose pages are all of
    them start pages."""
    return Page.objects.filter(crawl=crawl, kind=PAGE, key__in=[key_of(url) for url in crawl.start_urls])


def _in_order(ids: Sequence[int]) -> list[Page]:
    """The pages with these ids, in their order. They are asked for by nothing else: an index of the crawl's pages would
    be taken then, and all of them read to find these few."""
    by_id = Page.objects.in_bulk(ids[:SHOWN])
    return [by_id[page] for page in ids if page in by_id]


def _is_troubled(page: Page) -> bool:
    return bool(page.outcome) and is_trouble(Outcome(page.outcome)) and not page.given_up
