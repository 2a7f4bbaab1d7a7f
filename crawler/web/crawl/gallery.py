"""The view of a crawl's screenshots."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from crawler.core.pages.content_formats import SCREENSHOT
from crawler.models import Page
from crawler.reports import text
from crawler.reports.catalogue.page_queries import answer
from crawler.storage.content.kept import pages_with
from crawler.web.crawl.crawls import visible_crawl
from crawler.web.decorators import page_to_read
from crawler.web.tables.paging import paged

THUMBNAILS_PER_PAGE = 24  # each is a whole screenshot, which the browser scales


@page_to_read
def crawl_gallery(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The screenshots in the order in which their pages were found, each with title, URL and response. Without one it
    says why, and how to get some."""
    crawl = visible_crawl(request, crawl_id)
    found = paged(
        request,
        pages_with(crawl, SCREENSHOT).order_by("pk"),
        thumbnail,
        noun="screenshot",
        rows_per_page=THUMBNAILS_PER_PAGE,
    )
    context = {"crawl": crawl, "keeps": SCREENSHOT in crawl.chosen.keep, "over": crawl.is_over}
    return render(request, "crawler/gallery.html", context | found)


def thumbnail(page: Page) -> dict[str, str]:
    return {
        "address": reverse("page-detail", args=[page.crawl_id, page.pk]),
        "image": reverse("page-content", args=[page.crawl_id, page.pk, SCREENSHOT]),
        "title": page.title or page.url,
        "url": page.url,
        "answer": answer(page.outcome, page.http_status),
        "tone": text.tone(page.outcome),
    }
