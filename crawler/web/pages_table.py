"""The table of all pages of a crawl, and the same rows as a file."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.core.errors import BadInput
from crawler.core.pages_query import PagesQuery, Show
from crawler.exports.formats import FORMATS
from crawler.models import Crawl
from crawler.reports.orphans import knows_orphans
from crawler.reports.pages_columns import shown_columns
from crawler.reports.pages_table import chosen, leaf_of
from crawler.web.crawls import visible_crawl
from crawler.web.pages_form import COMMON_TYPES, PagesForm
from crawler.web.pages_rows import counted, rows, ways
from crawler.web.shell import page

FILES = {"csv": "CSV", "jsonl": "JSON lines"}
"""The formats the rows can be had in."""


@never_cache
@require_GET
@page
def crawl_pages(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The rows the address asks for; when it asks for what cannot be, the form says so."""
    crawl = visible_crawl(request, crawl_id)
    return _page(request, crawl, PagesForm(request.GET, crawl))


@never_cache
@require_GET
@page
def crawl_pages_export(request: HttpRequest, crawl_id: UUID, export_format: str) -> HttpResponseBase:
    """All the rows the address asks for, not only those that are shown at a time, in the same order; streamed."""
    crawl = visible_crawl(request, crawl_id)
    if export_format not in FILES:
        raise Http404
    form = PagesForm(request.GET, crawl)
    if not form.is_valid() or form.query is None:
        return _page(request, crawl, form)
    made = FORMATS[export_format]
    pieces = made(crawl, among=chosen(crawl, form.query))
    response = StreamingHttpResponse(pieces, content_type=made.media_type)
    response["Content-Disposition"] = f'attachment; filename="pages-{crawl.id}.{export_format}"'
    return response


def _page(request: HttpRequest, crawl: Crawl, form: PagesForm) -> HttpResponse:
    """The whole page. A script that replaces the table alone replaces it only by an answer that is no error, and is
    told the shortest address of what is shown."""
    shown, alone = _shown(crawl, form), "HX-Request" in request.headers
    columns = shown_columns(crawl, form.query.columns if form.query else ())
    context = {"crawl": crawl, "form": form, "types": COMMON_TYPES, "chosen": {column.name for column in columns}}
    status = 400 if form.errors and not alone else 200
    response = render(request, "crawler/pages.html", {**context, **shown, "alone": alone}, status=status)
    if alone and form.query:
        response["HX-Push-Url"] = f"{request.path}?{urlencode(form.query.pairs())}".removesuffix("?")
    patch_vary_headers(response, ["HX-Request"])
    return response


def _shown(crawl: Crawl, form: PagesForm) -> dict[str, object]:
    """The rows and the ways on; nothing when what was asked for cannot be."""
    if not form.is_valid() or form.query is None:
        return {}
    query: PagesQuery = form.query
    try:
        leaf = leaf_of(crawl, query)
    except BadInput as error:
        form.add_error(None, error.message)
        return {}
    heads, found = rows(crawl, query, leaf)
    return {
        "heads": heads,
        "rows": found,
        "count": counted(leaf),
        "ways": ways(query, leaf),
        "files": [(name, words, urlencode(query.from_the_start().pairs())) for name, words in FILES.items()],
        "narrowed": query.is_narrowed,
        "unknown": query.show is Show.ORPHANS and not knows_orphans(crawl),
    }
