"""The kept content of one page, to be looked at or taken away. It was written by strangers, so none of it is ever run:
it goes out as plain text, or as a file to be saved, in a sandbox without any rights."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.content.one import ENDINGS, content_of, is_kept
from crawler.content.storage import Gone
from crawler.core import forms
from crawler.core.gzipped import Broken
from crawler.models import Page, PageFacts
from crawler.web.crawls import visible_crawl
from crawler.web.shell import page

POLICY = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@never_cache
@require_GET
@page
def page_content(request: HttpRequest, crawl_id: UUID, page_id: int, form: str) -> HttpResponse:
    """One form of a page's content as plain text; a WARC, and with `?download` anything, as a file."""
    crawl = visible_crawl(request, crawl_id)
    found = get_object_or_404(Page, pk=page_id, crawl=crawl)
    facts = PageFacts.objects.filter(page_id=found.id).first()
    if facts is None or not is_kept(facts, form):
        raise Http404("This page has no content of this form.")
    try:
        content = content_of(facts, form)
    except (Gone, Broken) as error:
        return _guarded(HttpResponse(f"This cannot be shown: {error}.\n", status=410, content_type="text/plain"))
    return _answer(form, content, found.id, to_save=form == forms.WARC or "download" in request.GET)


def _answer(form: str, content: bytes, page_id: int, *, to_save: bool) -> HttpResponse:
    kind = "application/octet-stream" if to_save else "text/plain; charset=utf-8"
    response = _guarded(HttpResponse(content, content_type=kind))
    place = "attachment" if to_save else "inline"
    response["Content-Disposition"] = f'{place}; filename="page-{page_id}.{ENDINGS[form]}"'
    return response


def _guarded(response: HttpResponse) -> HttpResponse:
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
