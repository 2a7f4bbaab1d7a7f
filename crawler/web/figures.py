"""The door to the pictures of a crawl. Its page holds them, and asks for them again while the crawl goes on."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler import clock
from crawler.reports.breakdown import breakdown
from crawler.web.crawls import visible_crawl
from crawler.web.pictures import figures_of
from crawler.web.shell import is_part, page


@never_cache
@require_GET
@page
def crawl_figures(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """As part of the crawl's page, or as a page for those without JavaScript."""
    crawl = visible_crawl(request, crawl_id)
    now = clock.epoch_seconds()
    context = {"crawl": crawl, "figures": figures_of(crawl, breakdown(crawl, now))}
    return render(request, "crawler/figures.html" if is_part(request) else "crawler/figures_page.html", context)
