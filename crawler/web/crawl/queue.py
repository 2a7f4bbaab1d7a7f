"""Views that change the queue of a crawl: add pages, request pages again, change the crawl's options. They
take POST only and redirect to a page that shows the result."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST
from redis import RedisError

from crawler.accounts.permissions import namer
from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput, ServiceDown
from crawler.core.pages.page_query import read
from crawler.crawls.change import change
from crawler.manager.add import add, ask_again
from crawler.reports import adding, text
from crawler.reports.page_table import MAX_COUNTED, chosen
from crawler.reports.text import Reply
from crawler.web.crawl.control import NO_REDIS, page_ids, redirect_with
from crawler.web.crawl.crawls import crawl_for, detail_page
from crawler.web.decorators import page
from crawler.web.forms.queue import AddForm, ChangeForm, first_error


@require_POST
@page
def crawl_add(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Add pages, or move or repeat those it has."""
    crawl, form = crawl_for(request, crawl_id, Right.CONTROL), AddForm(request.POST)
    try:
        if not form.is_valid():
            raise BadInput("urls", first_error(form))
        typed, by = form.cleaned_data, namer(request.user, crawl)
        done = add(crawl.id, typed["urls"], form.place(), by=by, again=typed["again"])
    except BadInput as error:
        messages.warning(request, error.message)
        return detail_page(request, crawl, add_form=form, status=400)
    except (ServiceDown, RedisError):
        return redirect_with(request, Reply(NO_REDIS, is_so=False), _page_of(crawl_id))
    if done is None:
        return redirect_with(request, text.GONE, reverse("crawl-list"))
    for line in adding.reasons_lines(done):
        messages.warning(request, line)
    return redirect_with(request, adding.to_add(done), _page_of(crawl_id))


@require_POST
@page
def crawl_again(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Request the pages named by `page` (ids) again, or with `filters` the pages of the table that pass them."""
    crawl, ids = crawl_for(request, crawl_id, Right.CONTROL), page_ids(request.POST.getlist("page"))
    by_filters = "filters" in request.POST
    try:
        if by_filters:
            query = read(dict(request.POST.lists()))
            ids = list(chosen(crawl, query).values_list("id", flat=True)[:MAX_COUNTED])
        done = ask_again(crawl.id, ids)
    except BadInput as error:
        return redirect_with(request, Reply(error.message, is_so=False), _page_of(crawl_id))
    except (ServiceDown, RedisError):
        return redirect_with(request, Reply(NO_REDIS, is_so=False), _page_of(crawl_id))
    if done is None:
        return redirect_with(request, text.GONE, reverse("crawl-list"))
    if by_filters:
        where = f"{reverse('crawl-pages', args=[crawl_id])}?{urlencode(query.pairs())}".removesuffix("?")
        return redirect_with(request, adding.to_ask_again(done), where)
    where = reverse("page-detail", args=[crawl_id, ids[0]]) if ids and done.again else _page_of(crawl_id)
    return redirect_with(request, adding.to_ask_again(done), where)


@require_POST
@page
def crawl_change(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Change the crawl's options: all that is typed, or nothing."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    form = ChangeForm(request.POST, crawl=crawl, user=request.user)
    try:
        if not form.is_valid():
            raise BadInput("options", first_error(form))
        done = change(crawl.id, form.values(), by=namer(request.user, crawl))
    except BadInput as error:
        messages.warning(request, f"Nothing was changed: {error.message}")
        return detail_page(request, crawl, change_form=form, status=400)
    except (ServiceDown, RedisError):
        return redirect_with(request, Reply(NO_REDIS, is_so=False), _page_of(crawl_id))
    if done is None:
        return redirect_with(request, text.GONE, reverse("crawl-list"))
    return redirect_with(request, adding.to_change(done.before, done.after), _page_of(crawl_id))


def _page_of(crawl_id: UUID) -> str:
    return reverse("crawl-detail", args=[crawl_id])
