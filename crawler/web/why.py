"""The page that says why a crawl is not finished; for programs the same as JSON."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.core.lifecycle import State
from crawler.reports import why_words
from crawler.reports.why import why_of
from crawler.web.crawls import visible_crawl
from crawler.web.shell import page
from crawler.web.status import STATES

JSON = "application/json"


@never_cache
@require_GET
@page
def crawl_why(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """As it stands now; opening it again shows how it stands then. `?format=json`, or a client that would rather have
    JSON, gets the report itself."""
    crawl = visible_crawl(request, crawl_id)
    report = why_of(crawl)
    if request.GET.get("format") == "json" or request.get_preferred_type(["text/html", JSON]) == JSON:
        response: HttpResponse = JsonResponse(report)
    else:
        context = {
            "crawl": crawl,
            "as_of": datetime.fromisoformat(report["at"]),
            "state": STATES[State(crawl.state)],
            "answer": report["sentences"][0],
            "more": report["sentences"][1:],
            "sections": why_words.sections(report),
            "known": why_words.known(report),
        }
        response = render(request, "crawler/why.html", context)
    patch_vary_headers(response, ["Accept"])
    return response
