"""How many pages of a crawl a browser has rendered, and why."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q

from crawler.capabilities.browser.options import NEVER, RenderOptions
from crawler.capabilities.browser.shells import why_rendered
from crawler.models import Crawl, Page
from crawler.reports import text
from crawler.reports.receipt_parts import ReceiptPart


def _rendered(crawl: Crawl) -> dict[str, int] | None:
    """Reason -> pages, of a crawl that is over."""
    if not crawl.is_over or RenderOptions.of(crawl.chosen).render == NEVER:
        return None
    rendered = Page.objects.filter(~Q(lane_reason=""), crawl_id=crawl.id, status=Page.CLOSED).order_by()
    return dict(rendered.values_list("lane_reason").annotate(pages=Count("id")))


def _line(reasons: dict[str, Any]) -> tuple[str, str]:
    in_words = "; ".join(f"{why_rendered(reason)}: {text.count(number)}" for reason, number in sorted(reasons.items()))
    return "Rendered", text.count(sum(reasons.values())) + (f" ({in_words})" if in_words else "")


def _row(reasons: dict[str, Any]) -> tuple[str, str]:
    return "rendered in a browser", text.count(sum(reasons.values()))


RECEIPT_PARTS = (ReceiptPart("rendered", _rendered, _line, _row),)
