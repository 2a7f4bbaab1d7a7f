"""All the dead letters of a crawl, a page of them at a time."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from redis import RedisError

from crawler.accounts.permissions import visible_crawls
from crawler.core.access.permissions import Right
from crawler.core.errors import ServiceDown
from crawler.crawls.retry import release
from crawler.reports import traps
from crawler.reports.action_messages import Reply
from crawler.reports.links import dead_letters, knows_orphans, orphans
from crawler.web.crawl.control import LONGEST_ID, NO_REDIS
from crawler.web.crawl.crawls import crawl_for
from crawler.web.decorators import page
from crawler.web.forms.sharing import is_locked
from crawler.web.tables.rows import dead_letter_row, page_row, paged, trap_row


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


# All the orphans of a crawl, a page of them at a time.


@never_cache
@require_GET
@page
def crawl_orphans(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each with what came of it. Of a crawl that is not over they are those of the moment."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    context = {"crawl": crawl, "knows": knows_orphans(crawl), "over": crawl.is_over}
    return render(request, "crawler/orphans.html", context | paged(request, orphans(crawl), page_row))


# All the traps of a crawl with examples, and the door that releases them.

SHOWN = 200  # traps on a page; a crawl with more has a site that wants other rules


@never_cache
@require_GET
@page
def crawl_traps(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each with its reason, some of its pages, and a button that releases it; one button for all of them."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    found = traps.traps_of(crawl, SHOWN)
    context = {
        "crawl": crawl,
        "locked": is_locked(request.user, crawl),
        "summary": traps.summary(crawl),
        "rows": [trap_row(caught) for caught in found],
        "more": len(found) == SHOWN,
    }
    return render(request, "crawler/traps.html", context)


@require_POST
@page
def crawl_release_traps(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Release the traps named by `trap` (ids), or all when none is named."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    ids = _ids(request.POST.getlist("trap")) if "trap" in request.POST else None
    try:
        done = release(crawl.id, ids)
        reply = traps.to_release(done.traps, done.pages, done.left_out)
    except (ServiceDown, RedisError):
        reply = Reply(NO_REDIS, is_so=False)
    messages.add_message(request, messages.SUCCESS if reply.is_so else messages.WARNING, reply.line)
    return redirect("crawl-traps" if "back" in request.POST else "crawl-detail", crawl_id=crawl.id)


def _ids(typed: list[str]) -> list[int]:
    """The ids among what was sent. None of them means no trap, never all traps."""
    return [int(value) for value in typed if value.isdecimal() and len(value) <= LONGEST_ID]
