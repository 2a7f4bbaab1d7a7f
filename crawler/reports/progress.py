"""Where a crawl stands right now, as plain values for the web page and the command line's progress bar."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from crawler.core import progress
from crawler.core.outcomes import Kind, Outcome
from crawler.core.work import PAGE
from crawler.models import Crawl, Page
from crawler.reports.receipt import receipt_of

SHOWN = 12  # pages in a list on the crawl page


def progress_of(crawl: Crawl, now: float) -> dict[str, Any]:
    """State, counts, pages a second and, when one can be honest, seconds left (`eta`, else None)."""
    tallies = crawl.tallies
    closed = tallies.closed
    running = not crawl.is_over
    return {
        "id": str(crawl.id),
        "state": str(crawl.state),
        "discovered": tallies.discovered,
        "closed": closed,
        "open": tallies.open,
        "rate": progress.rate(crawl.samples, now, closed) if running else None,
        "eta": progress.eta(crawl.samples, now, tallies.discovered, closed) if running else None,
        "receipt": receipt_of(crawl),
    }


def last_pages(crawl: Crawl) -> list[Page]:
    """The pages closed last, newest first."""
    return list(Page.objects.filter(crawl=crawl, fetched_at__isnull=False).order_by("-fetched_at")[:SHOWN])


def troubled_pages(crawl: Crawl) -> list[Page]:
    """The newest pages that failed or answered with an error status, dead letters aside: they have a list of theirs."""
    errors = [Outcome.CLIENT_ERROR, Outcome.SERVER_ERROR, *(o for o in Outcome if o.kind is Kind.FAILED)]
    return list(Page.objects.filter(crawl=crawl, outcome__in=errors, given_up=False).order_by("-id")[:SHOWN])


def start_trouble(crawl: Crawl) -> list[Page]:
    """Start pages that gave nothing to follow: closed without a 2xx or 3xx response, and not by cancelling. From the
    pages of a list nothing was to be followed."""
    if crawl.source:
        return []
    fine = [Outcome.SUCCESS, Outcome.REDIRECT, Outcome.UNCHANGED, Outcome.CANCELLED]
    return list(_start_pages(crawl).filter(status=Page.CLOSED).exclude(outcome__in=fine).order_by("id"))


def start_count(crawl: Crawl) -> int:
    """How many start pages there are."""
    return _start_pages(crawl).count()


def _start_pages(crawl: Crawl) -> QuerySet[Page]:
    return Page.objects.filter(crawl=crawl, kind=PAGE, parent_id=None, depth=0, hops=0)
