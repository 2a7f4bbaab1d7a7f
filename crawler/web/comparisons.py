"""Two crawls side by side: which others there are to compare with, what differs, and each difference as a file."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.accounts import visible_crawls
from crawler.models import Crawl
from crawler.reports import comparison, words
from crawler.reports.comparison import BY_SLUG, CHANGES, Change, Compared, changes_between
from crawler.web.cells import names, table_of
from crawler.web.crawls import visible_crawl
from crawler.web.shell import page
from crawler.web.tables import table_response


@never_cache
@require_GET
@page
def crawl_compare(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The crawls this one can be compared with."""
    crawl = visible_crawl(request, crawl_id)
    others = comparison.comparable(crawl, visible_crawls(request.user))
    return render(request, "crawler/compare.html", {"crawl": crawl, "others": others})


@never_cache
@require_GET
@page
def crawl_comparison(request: HttpRequest, crawl_id: UUID, other_id: UUID) -> HttpResponse:
    """How many pages are new, gone and changed since the other crawl."""
    context = _sides(request, crawl_id, other_id)
    numbers = changes_between(context["crawl"], context["other"])
    context["changes"] = [_entry(change, numbers[change.slug]) for change in CHANGES]
    return render(request, "crawler/comparison.html", context)


@never_cache
@require_GET
@page
def crawl_comparison_change(request: HttpRequest, crawl_id: UUID, other_id: UUID, slug: str) -> HttpResponse:
    """The pages that differ in one way, a page of them at a time."""
    context, change = _sides(request, crawl_id, other_id), _named(slug)
    known = changes_between(context["crawl"], context["other"])[slug]
    lines = Compared(context["crawl"], context["other"], change, known)
    context |= table_of(request, context["crawl"], change.columns, lines, lambda key: "")
    context |= {"change": change, "count": words.counted(known, "page")}
    return render(request, "crawler/comparison_change.html", context)


@never_cache
@require_GET
@page
def crawl_comparison_export(
    request: HttpRequest, crawl_id: UUID, other_id: UUID, slug: str, export_format: str
) -> StreamingHttpResponse:
    """All of them as a file, streamed."""
    sides, change = _sides(request, crawl_id, other_id), _named(slug)
    rows = comparison.rows(sides["crawl"], sides["other"], change)
    return table_response(f"{slug}-{crawl_id}-{other_id}", export_format, names(change.columns), rows)


def _sides(request: HttpRequest, crawl_id: UUID, other_id: UUID) -> dict[str, Any]:
    """Both crawls, if this person may see both, and what makes them hard to compare."""
    crawl = visible_crawl(request, crawl_id)
    other: Crawl = get_object_or_404(visible_crawls(request.user), pk=other_id)
    if crawl.pk == other.pk:
        raise Http404
    return {
        "crawl": crawl,
        "other": other,
        "other_options": comparison.other_options(crawl, other),
        "are_over": crawl.is_over and other.is_over,
    }


def _named(slug: str) -> Change:
    if slug not in BY_SLUG:
        raise Http404
    return BY_SLUG[slug]


def _entry(change: Change, number: int) -> dict[str, str]:
    return {
        "slug": change.slug,
        "title": change.title,
        "number": words.counted(number, "page") if number else "0",
        "said": change.about if number else change.praise,
        "tone": "calm" if number else "good",
    }
