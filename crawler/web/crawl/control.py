"""Views of actions on a crawl: pause, resume, cancel, delete, retry dead letters, share, keep. They take POST only and
redirect to a page that shows the result."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from redis import RedisError

from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput, NoCrawl, ServiceDown
from crawler.crawls import kept_extraction
from crawler.crawls.actions import ACTIONS, reply_to
from crawler.crawls.control import keep, share
from crawler.crawls.delete import delete
from crawler.crawls.retry import retry_failed
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.text import Reply
from crawler.web.crawl.crawls import crawl_for
from crawler.web.decorators import page_to_post, person
from crawler.web.forms.queue import first_error
from crawler.web.forms.sharing import SharingForm

LONGEST_ID = 18  # digits; the ids of rows have no more
NO_REDIS = "Redis does not respond, so this may be incomplete. You can safely try again in a moment."


@page_to_post
def crawl_action(request: HttpRequest, crawl_id: UUID, name: str) -> HttpResponse:
    """Do the action of this name (`crawls.actions`)."""
    action = ACTIONS[name]
    crawl_for(request, crawl_id, action.right)
    return answered(request, page_of_crawl(crawl_id), lambda: reply_to(action, action.run(crawl_id), crawl_id))


@page_to_post
def crawl_extract(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Extract the fields of its pages again from kept HTML, in a job."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    try:
        kept_extraction.start(crawl)
        kept_extraction.send(crawl.id)
        reply = Reply("Extracting the fields again from saved HTML; this page shows the progress.", is_so=True)
    except BadInput as error:
        reply = Reply(error.message, is_so=False)
    except (ServiceDown, RedisError):
        reply = Reply("Redis does not respond; it starts as soon as Redis is back.", is_so=False)
    return redirect_with(request, reply, page_of_crawl(crawl_id))


@page_to_post
def crawl_delete(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """End and delete the crawl. A crawl of another user is a 404; a deleted one is no error."""
    if not Crawl.objects.filter(pk=crawl_id).exists():
        return redirect_with(request, Reply("That crawl was already deleted.", is_so=True), reverse("crawl-list"))
    crawl = crawl_for(request, crawl_id, Right.OWN)

    def do() -> HttpResponse:
        return redirect_with(request, text.to_delete(crawl, delete(crawl.id)), reverse("crawl-list"))

    return answered(request, page_of_crawl(crawl_id), do)


@page_to_post
def crawl_retry_failed(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Retry dead letters: those named by `page` (ids), or all without `page`."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    ids = page_ids(request.POST.getlist("page")) if "page" in request.POST else None
    return answered(request, _where_from(request, crawl_id), lambda: text.to_retry(retry_failed(crawl.id, ids)))


def answered(
    request: HttpRequest,
    where: str,
    do: Callable[[], Reply | HttpResponse],
    refused: Callable[[BadInput], HttpResponse] | None = None,
) -> HttpResponse:
    """Do it, and redirect to an address that shows the reply, or why it could not be done; or give the response that it
    returns. `refused`: the response to bad input, in place of a redirect."""
    try:
        reply = do()
        if isinstance(reply, HttpResponse):
            return reply
    except NoCrawl as error:
        reply, where = Reply(str(error), is_so=False), reverse("crawl-list")
    except BadInput as error:
        if refused is not None:
            return refused(error)
        reply = Reply(error.message, is_so=False)
    except (ServiceDown, RedisError):
        reply = Reply(NO_REDIS, is_so=False)
    return redirect_with(request, reply, where)


def redirect_with(request: HttpRequest, reply: Reply, where: str) -> HttpResponse:
    """Redirect to an address that shows the reply."""
    messages.add_message(request, messages.SUCCESS if reply.is_so else messages.WARNING, reply.line)
    return redirect(where)


def page_of_crawl(crawl_id: UUID) -> str:
    """Its address."""
    return reverse("crawl-detail", args=[crawl_id])


def _where_from(request: HttpRequest, crawl_id: UUID) -> str:
    """Where the button is: the page of the dead letters with the number `back`, the view of a page (`back` is "page"),
    else the page of the crawl."""
    number = request.POST.get("back", "")
    asked = page_ids(request.POST.getlist("page"))
    if number == "page" and asked:
        return reverse("page-detail", args=[crawl_id, asked[0]])
    if not number.isdecimal():
        return page_of_crawl(crawl_id)
    return f"{reverse('crawl-dead-letters', args=[crawl_id])}?page={int(number[:LONGEST_ID])}"


def page_ids(typed: list[str]) -> list[int]:
    """The valid ids. An empty list means no page, never all pages."""
    return [int(text) for text in typed if text.isdecimal() and len(text) <= LONGEST_ID]


@page_to_post
def crawl_share(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Share the crawl with a group, or stop sharing it."""
    crawl = crawl_for(request, crawl_id, Right.OWN)
    form = SharingForm(request.POST, user=request.user, crawl=crawl)
    if not form.is_valid():
        return redirect_with(request, Reply(first_error(form), is_so=False), page_of_crawl(crawl_id))
    return answered(request, page_of_crawl(crawl_id), lambda: _share(person(request), crawl, form))


@page_to_post
def crawl_keep(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Exempt the crawl from retention (`keep` = on), or not."""
    crawl = crawl_for(request, crawl_id, Right.OWN)
    is_kept = request.POST.get("keep") == "on"
    keep(crawl, is_kept=is_kept)
    line = "This crawl is kept until you delete it." if is_kept else "This crawl is deleted automatically again."
    return redirect_with(request, Reply(line, is_so=True), page_of_crawl(crawl_id))


def _share(user: User, crawl: Crawl, form: SharingForm) -> Reply:
    group = form.cleaned_data.get("group")
    share(crawl, user, group, group_controls=form.cleaned_data.get("group_controls", False))
    return Reply(f"Shared with {group.name}." if group is not None else "No longer shared.", is_so=True)
