"""All the dead letters of a crawl, a page of them at a time."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.accounts import visible_crawls
from crawler.reports.dead_letters import dead_letters
from crawler.web.paging import paged
from crawler.web.rows import dead_letter_row
from crawler.web.sharing import is_locked
from crawler.web.shell import page


@never_cache
@require_GET
@page
def crawl_dead_letters(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each with its reason, and a button that sends it again; one button for all of them."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    letters = paged(request, dead_letters(crawl), dead_letter_row)
    return render(
        request, "crawler/dead_letters.html", {"crawl": crawl, "locked": is_locked(request.user, crawl)} | letters
    )
