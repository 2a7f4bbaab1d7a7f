"""The doors to a crawl as a file: which formats there are, and each as a download."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.accounts.permissions import visible_crawls
from crawler.core.errors import BadInput
from crawler.exports.formats import FORMATS, file_name, formats_for
from crawler.models import Crawl
from crawler.web.decorators import page


@never_cache
@require_GET
@page
def crawl_exports(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Every format, with what is in it."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    return _page(request, crawl)


@never_cache
@require_GET
@page
def crawl_export(request: HttpRequest, crawl_id: UUID, export_format: str) -> HttpResponseBase:
    """A download, streamed; of a crawl that still runs, what is known by now. With `?externals` the links that leave
    the site in place of the pages. When it cannot be made, the page of all formats says why."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    if export_format not in FORMATS:
        raise Http404
    made, externals = FORMATS[export_format], "externals" in request.GET
    try:
        pieces = made(crawl, externals=externals)
    except BadInput as error:
        return _page(request, crawl, trouble=str(error), status=400)
    response = StreamingHttpResponse(pieces, content_type=made.media_type)
    name = file_name(crawl, export_format, externals=externals)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _page(request: HttpRequest, crawl: Crawl, *, trouble: str = "", status: int = 200) -> HttpResponse:
    context = {
        "crawl": crawl,
        "formats": list(formats_for(crawl).items()),
        "has_externals": crawl.chosen.externals != "ignore",
        "trouble": trouble,
    }
    return render(request, "crawler/exports.html", context, status=status)
