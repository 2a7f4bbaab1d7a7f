"""The view that explains why a crawl is not finished, as a page or JSON, and the view that ends the wait for a host."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from crawler.accounts.permissions import visible_crawls
from crawler.core.access.permissions import Right
from crawler.core.protocol.completion import State
from crawler.manager.host_waits import end_host_waits, has_pages_of
from crawler.models import Crawl
from crawler.reports import diagnosis_text, text
from crawler.reports.diagnosis import why_of
from crawler.reports.text import Reply
from crawler.web.crawl.control import answered
from crawler.web.crawl.crawls import crawl_for, visible_crawl
from crawler.web.crawl.status import STATES
from crawler.web.decorators import page_to_post, page_to_read
from crawler.web.forms.sharing import is_locked

JSON = "application/json"


@page_to_read
def crawl_why(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The current state. `?format=json`, or a client that prefers JSON, gets the report itself."""
    crawl = visible_crawl(request, crawl_id)
    report = why_of(crawl, visible=visible_crawls(request.user))
    if request.GET.get("format") == "json" or request.get_preferred_type(["text/html", JSON]) == JSON:
        response: HttpResponse = JsonResponse(report)
    else:
        context = {
            "crawl": crawl,
            "as_of": datetime.fromisoformat(report["at"]),
            "state": STATES[State(crawl.state)],
            "answer": report["sentences"][0],
            "more": report["sentences"][1:],
            "sections": diagnosis_text.sections(report),
            "known": diagnosis_text.known(report),
            "locked": is_locked(request.user, crawl),
        }
        response = render(request, "crawler/why.html", context)
    patch_vary_headers(response, ["Accept"])
    return response


@page_to_post
def crawl_host_forget(request: HttpRequest, crawl_id: UUID, host: str) -> HttpResponse:
    """End the wait for a host, for all crawls of it, because they share its state."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    return answered(request, reverse("crawl-why", args=[crawl.id]), lambda: _ended_wait(crawl, host))


def _ended_wait(crawl: Crawl, host: str) -> Reply:
    if not has_pages_of(crawl, host):
        return text.no_pages_of(host)
    done = end_host_waits(host)
    return text.to_forget(host, had_to_wait=done.had_to_wait, crawls=done.crawls)
