"""All the orphans of a crawl, a page of them at a time."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.accounts import visible_crawls
from crawler.reports.orphans import knows_orphans, orphans
from crawler.web.paging import paged
from crawler.web.rows import page_row
from crawler.web.shell import page


@never_cache
@require_GET
@page
def crawl_orphans(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each with what came of it. Of a crawl that is not over they are those of the moment."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    context = {"crawl": crawl, "knows": knows_orphans(crawl), "over": crawl.is_over}
    return render(request, "crawler/orphans.html", context | paged(request, orphans(crawl), page_row))
