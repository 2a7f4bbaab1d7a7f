"""The content that is kept of one page, or why there is none."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from crawler.capabilities.content.options import ContentOptions
from crawler.core.pages.content_formats import SCREENSHOT
from crawler.models import Crawl, Page, PageFacts
from crawler.reports.page_detail import unread
from crawler.reports.page_parts import Known, PagePart, Report


def _values(page: Page, facts: PageFacts | None) -> dict[str, Any]:
    return {"kept": facts.kept if facts else {}}


def kept(report: Report) -> Known:
    """The forms, or why one is not kept."""
    return [(form, place if isinstance(place, str) else "kept") for form, place in report["kept"].items()]


def _context(crawl: Crawl, page: Page, report: Report) -> dict[str, Any]:
    """Each form with its address, or why it was not kept."""
    addresses = {
        form: reverse("page-content", args=[crawl.pk, page.pk, form]) if isinstance(place, list) else ""
        for form, place in report["kept"].items()
    }
    return {
        "kept": [(form, address, "" if address else report["kept"][form]) for form, address in addresses.items()],
        "screenshot": addresses.get(SCREENSHOT, ""),
    }


def _absent(crawl: Crawl, page: Page, report: Report) -> str:
    if not ContentOptions.of(crawl.chosen).keep or not page.outcome:
        return ""
    return f"No content of this page is stored. {unread(report)}".rstrip()


PAGE_PARTS = (
    PagePart(
        name="kept",
        title="Kept content",
        values=_values,
        lines=kept,
        template="content/kept.html",
        context=_context,
        absent=_absent,
    ),
)
