"""The page that says why a crawl is not finished, or the same as JSON. Its button ends the wait for a host."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from redis import RedisError

from crawler.accounts.permissions import visible_crawls
from crawler.core.access.permissions import Right
from crawler.core.crawl.completion import State
from crawler.core.errors import ServiceDown
from crawler.manager.host_waits import end_host_waits, has_pages_of
from crawler.reports import diagnosis_text, text
from crawler.reports.diagnosis import why_of
from crawler.reports.text import Reply
from crawler.web.crawl.control import NO_REDIS
from crawler.web.crawl.crawls import crawl_for, visible_crawl
from crawler.web.crawl.status import STATES
from crawler.web.decorators import page
from crawler.web.forms.sharing import is_locked

JSON = "application/json"


@never_cache
@require_GET
@page
def crawl_why(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """As it stands now; opening it again shows how it stands then. `?format=json`, or a client that would rather have
    JSON, gets the report itself."""
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


@require_POST
@page
def crawl_host_forget(request: HttpRequest, crawl_id: UUID, host: str) -> HttpResponse:
    """End what a host of this crawl waits for; for all crawls of it, because they share what is known of a host."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    try:
        if not has_pages_of(crawl, host):
            reply = text.no_pages_of(host)
        else:
            done = end_host_waits(host)
            reply = text.to_forget(host, had_to_wait=done.had_to_wait, crawls=done.crawls)
    except (ServiceDown, RedisError):
        reply = Reply(NO_REDIS, is_so=False)
    messages.add_message(request, messages.SUCCESS if reply.is_so else messages.WARNING, reply.line)
    return redirect("crawl-why", crawl_id=crawl.id)
