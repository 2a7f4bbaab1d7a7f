"""All the dead letters of a crawl, a page of them at a time."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.reports import words
from crawler.reports.dead_letters import dead_letters
from crawler.web.crawls import visible_to
from crawler.web.rows import dead_letter_row
from crawler.web.shell import page

PER_PAGE = 100


@never_cache
@require_GET
@page
def crawl_dead_letters(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each with its reason, and a button that sends it again; one button for all of them."""
    crawl = get_object_or_404(visible_to(request.user), pk=crawl_id)
    letters = Paginator(dead_letters(crawl), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "crawl": crawl,
        "letters": letters,
        "count": words.counted(letters.paginator.count, "page"),
        "rows": [dead_letter_row(letter) for letter in letters],
    }
    return render(request, "crawler/dead_letters.html", context)
