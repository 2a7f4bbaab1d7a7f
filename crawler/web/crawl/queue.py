"""Views that change the queue of a crawl: add pages, request pages again, change the crawl's options. They
take POST only and redirect to a page that shows the result."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from crawler.accounts.permissions import namer
from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput
from crawler.core.pages.page_query import read
from crawler.crawls.change import change
from crawler.manager.add import add, ask_again
from crawler.reports import adding
from crawler.reports.page_table import MAX_COUNTED, chosen
from crawler.reports.text import Reply
from crawler.web.crawl.control import answered, page_ids, page_of_crawl, redirect_with
from crawler.web.crawl.crawls import crawl_for, detail_page
from crawler.web.decorators import page_to_post
from crawler.web.forms.queue import AddForm, ChangeForm, first_error


@page_to_post
def crawl_add(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Add pages, or move or repeat those it has."""
    crawl, form = crawl_for(request, crawl_id, Right.CONTROL), AddForm(request.POST)

    def do() -> Reply:
        if not form.is_valid():
            raise BadInput("urls", first_error(form))
        typed, by = form.cleaned_data, namer(request.user, crawl)
        done = add(crawl.id, typed["urls"], form.place(), by=by, again=typed["again"])
        for line in adding.reasons_lines(done):
            messages.warning(request, line)
        return adding.to_add(done)

    def refused(error: BadInput) -> HttpResponse:
        messages.warning(request, error.message)
        return detail_page(request, crawl, add_form=form, status=400)

    return answered(request, page_of_crawl(crawl_id), do, refused)


@page_to_post
def crawl_again(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Request the pages named by `page` (ids) again, or with `filters` the pages of the table that pass them."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)

    def do() -> Reply | HttpResponse:
        if "filters" in request.POST:
            query = read(dict(request.POST.lists()))
            done = ask_again(crawl.id, chosen(crawl, query).values_list("id", flat=True)[:MAX_COUNTED])
            where = f"{reverse('crawl-pages', args=[crawl_id])}?{urlencode(query.pairs())}".removesuffix("?")
            return redirect_with(request, adding.to_ask_again(done), where)
        ids = page_ids(request.POST.getlist("page"))
        reply = adding.to_ask_again(done := ask_again(crawl.id, ids))
        return redirect_with(request, reply, reverse("page-detail", args=[crawl_id, ids[0]])) if done.again else reply

    return answered(request, page_of_crawl(crawl_id), do)


@page_to_post
def crawl_change(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Change the crawl's options: all that is typed, or nothing."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    form = ChangeForm(request.POST, crawl=crawl, user=request.user)

    def do() -> Reply:
        if not form.is_valid():
            raise BadInput("options", first_error(form))
        done = change(crawl.id, form.values(), by=namer(request.user, crawl))
        return adding.to_change(done.before, done.after)

    def refused(error: BadInput) -> HttpResponse:
        messages.warning(request, f"Nothing was changed: {error.message}")
        return detail_page(request, crawl, change_form=form, status=400)

    return answered(request, page_of_crawl(crawl_id), do, refused)
