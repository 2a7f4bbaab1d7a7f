"""The door to the kept content of a page. It was written by strangers: it goes out as a file to be saved, of a kind
that nothing runs, in a sandbox without any rights."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from django.http import HttpResponse
from ninja import Router

from crawler.api.callers import ApiRequest, needs
from crawler.api.finding import crawl_named, page_named
from crawler.api.problems import Problem
from crawler.api.shapes.page import PageId
from crawler.content.one import ENDINGS, content_of, is_kept
from crawler.content.storage import Gone
from crawler.core import forms
from crawler.core.gzipped import Broken
from crawler.core.scopes import Scope
from crawler.models import PageFacts

CONTENTS = {
    "text/plain": {"example": "# Documentation\n\nHow to use it.\n"},
    "application/octet-stream": {"example": "a WARC file, packed by gzip"},
}

router = Router(tags=["pages"])


class Form(StrEnum):
    """The forms a page's content can be kept in."""

    HTML = forms.HTML
    TEXT = forms.TEXT
    MARKDOWN = forms.MARKDOWN
    WARC = forms.WARC


@router.get(
    "/{uuid:crawl_id}/pages/{page_id}/content/{form}",
    operation_id="content_get_content",
    auth=needs(Scope.CRAWLS_READ),
    summary="Get a page's content",
    openapi_extra={"responses": {200: {"content": CONTENTS}}},
)
def get_content(request: ApiRequest, crawl_id: UUID, page_id: PageId, form: Form) -> HttpResponse:
    """As it was kept: `html`, `text` and `markdown` in UTF-8 as plain text, `warc` as it is. The crawl must have been
    started with `keep`; `kept` of the page says which forms there are."""
    page = page_named(crawl_named(request, crawl_id), page_id)
    facts = PageFacts.objects.filter(page_id=page.pk).first()
    if facts is None or not is_kept(facts, form):
        raise Problem(404, f"This page was not kept as {form.value}; start the crawl with `keep`.")
    try:
        content = content_of(facts, form)
    except (Gone, Broken) as error:
        raise Problem(410, f"This cannot be had: {error}.") from None
    kind = "application/octet-stream" if form is Form.WARC else "text/plain; charset=utf-8"
    name = f"page-{page.pk}.{ENDINGS[form]}"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return HttpResponse(content, content_type=kind, headers=headers)
