"""The doors by which an owner shares a crawl and says that it is to be kept. By POST alone."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from crawler.core.errors import BadInput
from crawler.core.rights import Right
from crawler.engine.share import keep, share
from crawler.models import Crawl
from crawler.web.crawls import crawl_for
from crawler.web.sharing import SharingForm
from crawler.web.shell import page, person


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
