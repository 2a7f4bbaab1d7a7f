"""The doors that move a crawl: pause, resume, cancel, delete, and send its dead letters again. By POST alone; each
leads back to a page that says what came of it, whatever state the crawl is in by then."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST
from redis import RedisError

from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput, ServiceDown
from crawler.crawls import control
from crawler.crawls.control import keep, share
from crawler.crawls.delete import delete
from crawler.crawls.retry import retry_failed
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.text import Reply, Verb
from crawler.web.crawl.crawls import crawl_for
from crawler.web.decorators import page, person
from crawler.web.forms.sharing import SharingForm

LONGEST_ID = 18  # digits; the table's keys have no more
NO_REDIS = "Redis does not answer, so this may be half done. It is safe to try again in a moment."


@require_POST
@page
def crawl_pause(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Hand out nothing new."""
    return _move(request, crawl_id, Verb.PAUSE, control.pause)


@require_POST
@page
def crawl_resume(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Go on with a paused crawl."""
    return _move(request, crawl_id, Verb.RESUME, control.resume)


@require_POST
@page
def crawl_cancel(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """End the crawl; what is open closes as cancelled."""
    return _move(request, crawl_id, Verb.CANCEL, control.cancel)


@require_POST
@page
def crawl_delete(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """End the crawl and forget it. Somebody else's is not there; one that is gone already is no error."""
    if not Crawl.objects.filter(pk=crawl_id).exists():
        return _told(request, Reply("That crawl was deleted already.", is_so=True), reverse("crawl-list"))
    crawl = crawl_for(request, crawl_id, Right.OWN)
    try:
        reply = text.to_delete(crawl, delete(crawl.id))
    except (ServiceDown, RedisError):
        return _told(request, Reply(NO_REDIS, is_so=False), _page_of(crawl_id))
    return _told(request, reply, reverse("crawl-list"))


@require_POST
@page
def crawl_retry_failed(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Send dead letters again: those named by `page` (ids), or all when none is named."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    page_ids = _page_ids(request.POST.getlist("page")) if "page" in request.POST else None
    try:
        reply = text.to_retry(retry_failed(crawl.id, page_ids))
    except (ServiceDown, RedisError):
        reply = Reply(NO_REDIS, is_so=False)
    return _told(request, reply, _where_from(request, crawl_id))


def _move(request: HttpRequest, crawl_id: UUID, verb: Verb, move: Callable[[UUID], bool]) -> HttpResponse:
    crawl_for(request, crawl_id, Right.CONTROL)
    try:
        reply = text.to_verb(verb, move(crawl_id), crawl_id)
    except (ServiceDown, RedisError):
        reply = Reply(NO_REDIS, is_so=False)
    return _told(request, reply, reverse("crawl-list") if reply is text.GONE else _page_of(crawl_id))


def _told(request: HttpRequest, reply: Reply, where: str) -> HttpResponse:
    """Go there, where the reply is shown."""
    messages.add_message(request, messages.SUCCESS if reply.is_so else messages.WARNING, reply.line)
    return redirect(where)


def _page_of(crawl_id: UUID) -> str:
    return reverse("crawl-detail", args=[crawl_id])


def _where_from(request: HttpRequest, crawl_id: UUID) -> str:
    """The page of the dead letters (`back` names it by number) that the button was pressed on, or a page's own view
    (`back` is "page"), else the crawl's."""
    number = request.POST.get("back", "")
    asked = _page_ids(request.POST.getlist("page"))
    if number == "page" and asked:
        return reverse("page-detail", args=[crawl_id, asked[0]])
    if not number.isdecimal():
        return _page_of(crawl_id)
    return f"{reverse('crawl-dead-letters', args=[crawl_id])}?page={int(number[:LONGEST_ID])}"


def _page_ids(typed: list[str]) -> list[int]:
    """The ids among what was sent. None of them means no page, never all pages."""
    return [int(text) for text in typed if text.isdecimal() and len(text) <= LONGEST_ID]


# The doors by which an owner shares a crawl and says that it is to be kept. By POST alone.


@require_POST
@page
def crawl_share(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Share it with a group, or with nobody any more."""
    crawl = crawl_for(request, crawl_id, Right.OWN)
    form = SharingForm(request.POST, user=request.user, crawl=crawl)
    if not form.is_valid():
        messages.warning(request, str(next(iter(form.errors.values()))[0]))
        return redirect("crawl-detail", crawl_id=crawl.id)
    try:
        _share(request, crawl, form)
    except BadInput as error:
        messages.warning(request, error.message)
    return redirect("crawl-detail", crawl_id=crawl.id)


@require_POST
@page
def crawl_keep(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Keep it whatever its age (`keep` = on), or no longer."""
    crawl = crawl_for(request, crawl_id, Right.OWN)
    is_kept = request.POST.get("keep") == "on"
    keep(crawl, is_kept=is_kept)
    messages.success(request, "It is kept until you delete it." if is_kept else "It is no longer kept beyond its time.")
    return redirect("crawl-detail", crawl_id=crawl.id)


def _share(request: HttpRequest, crawl: Crawl, form: SharingForm) -> None:
    group = form.cleaned_data.get("group")
    share(crawl, person(request), group, group_controls=form.cleaned_data.get("group_controls", False))
    line = f"Shared with {group.name}." if group is not None else "Shared with nobody."
    messages.success(request, line)
