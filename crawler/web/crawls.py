"""The doors of a crawl: the list with the form, starting one, its page, and its state as JSON."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST
from redis import RedisError

from crawler import clock
from crawler.accounts import may, sees_addresses, visible_crawls
from crawler.core.errors import BadInput, LoadStopped, OverQuota, ServiceDown
from crawler.core.options import MAY_BE_SECRET
from crawler.core.rights import Right
from crawler.engine.reconcile import reconcile
from crawler.engine.schedules import begin_schedule
from crawler.engine.start import start_crawl
from crawler.models import Crawl
from crawler.web import lists
from crawler.web.crawl_list import list_of
from crawler.web.forms import CrawlForm
from crawler.web.pictures import quick_figures
from crawler.web.schedules import runs_of
from crawler.web.sharing import permitted, share_as_chosen, sharing_of
from crawler.web.shell import is_part, page
from crawler.web.signing_in import SECRETS
from crawler.web.status import status_of

MAY_LOOK = {
    Right.SEE: "",  # whoever may not look is told that nothing is there
    Right.CONTROL: "You may look at this crawl, but not move it. Ask its owner to let your group control it.",
    Right.OWN: "You may look at this crawl, but this is for its owner to do.",
}
"""What somebody is told who may not do more."""


@never_cache
@require_GET
@page
def crawl_list(request: HttpRequest) -> HttpResponse:
    """The form, and below it the crawls, newest first. With `again` the form is filled as for that crawl. An open page
    asks for the list alone when a filter is changed, and now and then."""
    if is_part(request):
        return render(request, "crawler/crawl_rows.html", list_of(request, visible_crawls(request.user)))
    form = CrawlForm(user=request.user, like=crawl_named(request, request.GET.get("again", "")))
    return _list_page(request, form, status=200)


@require_POST
@sensitive_post_parameters(*SECRETS, *MAY_BE_SECRET)
@page
def crawl_create(request: HttpRequest) -> HttpResponse:
    """Start a crawl and go to its page; else the list again, with what was typed and what is wrong with it."""
    like = crawl_named(request, request.POST.get("again", ""))
    form = CrawlForm(request.POST, request.FILES, user=request.user, like=like)
    if not form.is_valid():
        return _list_page(request, form, status=400)
    owner = request.user if isinstance(request.user, User) else None
    try:
        crawl = lists.started(form, owner) or _started(form, owner)
        share_as_chosen(form, crawl, owner)
    except OverQuota as error:
        form.add_error(None, error.message)
        response = _list_page(request, form, status=429)
        response["Retry-After"] = str(error.retry_after)
        return response
    except BadInput as error:
        form.refuse(error)
        return _list_page(request, form, status=400)
    except LoadStopped as error:
        form.add_error(None, str(error))
        return _list_page(request, form, status=409)
    except ServiceDown as error:
        form.add_error(None, str(error))
        return _list_page(request, form, status=503)
    return redirect("crawl-detail", crawl_id=crawl.id)


@never_cache
@require_GET
@page
def crawl_detail(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Where the crawl stands; without JavaScript a reload brings it up to date."""
    crawl = visible_crawl(request, crawl_id)
    context = {"crawl": crawl, "status": _status_for(request, crawl), "runs": runs_of(request.user, crawl)}
    context |= {
        "figures": quick_figures(crawl, clock.epoch_seconds()),
        "list_report": lists.report_of(crawl),
        **sharing_of(request.user, crawl),
    }
    return render(request, "crawler/crawl.html", context)


@never_cache
@require_GET
@page
def crawl_status(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The same as JSON; the open page asks for it every second."""
    crawl = visible_crawl(request, crawl_id)
    return JsonResponse(_status_for(request, crawl))


def _status_for(request: HttpRequest, crawl: Crawl) -> dict[str, Any]:
    """Where the crawl stands, with the buttons this person gets."""
    status = status_of(crawl, clock.epoch_seconds(), in_full=sees_addresses(request.user, crawl))
    return status | {"can": permitted(status["can"], request.user, crawl)}


def _started(form: CrawlForm, owner: User | None) -> Crawl:
    """The crawl that was asked for, or the first of those that are to be begun again and again."""
    urls, rule, options = form.cleaned_data["start_urls"], form.cleaned_data["schedule"], form.options()
    allow_private, sealed = form.private_allowed, form.sealed()
    if rule:
        return begin_schedule(urls, options, rule, owner=owner, allow_private=allow_private, sealed=sealed)
    return start_crawl(urls, options, owner=owner, allow_private=allow_private, sealed=sealed)


def crawl_for(request: HttpRequest, crawl_id: UUID, right: Right) -> Crawl:
    """A crawl this person may do this with. One they may not even see is not there; with one they may only look at,
    they are told whom to ask."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    if not may(request.user, right, crawl):
        raise PermissionDenied(MAY_LOOK[right])
    return crawl


def visible_crawl(request: HttpRequest, crawl_id: UUID) -> Crawl:
    """A crawl to look at; whoever looks at one wakes what shows no sign of life."""
    crawls = visible_crawls(request.user)
    with suppress(ServiceDown, RedisError):  # the table can still be read, and the page says that Redis is away
        reconcile()
    return get_object_or_404(crawls, pk=crawl_id)


def crawl_named(request: HttpRequest, typed: str) -> Crawl | None:
    """The crawl another is to be like. What it sends to sign in, and whom it tells, is for its owner alone to use."""
    try:
        crawl = visible_crawls(request.user).filter(pk=UUID(typed)).first()
    except ValueError:
        return None
    if crawl is not None and not sees_addresses(request.user, crawl):
        crawl.sealed = ""
        crawl.options = {name: value for name, value in crawl.options.items() if not name.startswith("notify_")}
    return crawl


def _list_page(request: HttpRequest, form: CrawlForm, *, status: int) -> HttpResponse:
    context = {"form": form, **list_of(request, visible_crawls(request.user))}
    return render(request, "crawler/crawls.html", context, status=status)
