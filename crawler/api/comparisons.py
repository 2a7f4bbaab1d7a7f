"""The doors of comparisons: the crawls one can be compared with, what differs, and each difference as a file."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Router

from crawler.accounts import visible_crawls
from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.paging import Cursor, Limit
from crawler.api.problems import Problem
from crawler.api.shapes import comparison as shapes
from crawler.api.shapes.crawl import line_of
from crawler.api.shapes.table import table_of
from crawler.api.tables import TableFormat, contents_of, download
from crawler.core.scopes import Scope
from crawler.models import Crawl
from crawler.reports import comparison
from crawler.reports.comparison import BY_SLUG, Change, Compared, changes_between

CONTENTS = contents_of(
    [column.name for column in BY_SLUG["gone"].columns], ("https://example.com/gone", "404", "Not found")
)

router = Router(tags=["comparisons"])


@router.get(
    "/{uuid:crawl_id}/comparisons",
    operation_id="comparisons_list_comparable",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Comparable,
    summary="List crawls to compare with",
    openapi_extra=described(shapes.COMPARABLE_EXAMPLE),
)
def list_comparable(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """The run before it first, then others of the same start URLs, the newest first. Any other crawl will do, too."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [line_of(other) for other in comparison.comparable(crawl, visible_crawls(request.user))]}


@router.get(
    "/{uuid:crawl_id}/comparisons/{uuid:other_id}",
    operation_id="comparisons_get_comparison",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Comparison,
    summary="Compare two crawls",
    openapi_extra=described(shapes.EXAMPLE),
)
def get_comparison(request: ApiRequest, crawl_id: UUID, other_id: UUID) -> dict[str, Any]:
    """How many pages are new, gone and changed since the other crawl, which is taken for the earlier one."""
    return shapes.comparison_of(*_sides(request, crawl_id, other_id))


@router.get(
    "/{uuid:crawl_id}/comparisons/{uuid:other_id}/{change}",
    operation_id="comparisons_get_change",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.ChangeWhole,
    summary="List pages that differ",
    openapi_extra=described(shapes.CHANGE_EXAMPLE),
)
def get_change(
    request: ApiRequest, crawl_id: UUID, other_id: UUID, change: str, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """In one way: `new`, `gone`, `status`, `title` or `content`."""
    (crawl, other), named = _sides(request, crawl_id, other_id), _named(change)
    number = changes_between(crawl, other)[named.slug]
    table = table_of(request, named.columns, Compared(crawl, other, named, number).__getitem__, cursor, limit)
    return shapes.entry_of(crawl, other, named, number) | table


@router.get(
    "/{uuid:crawl_id}/comparisons/{uuid:other_id}/{change}/exports/{export_format}",
    operation_id="comparisons_export_change",
    auth=needs(Scope.CRAWLS_READ),
    summary="Export pages that differ",
    openapi_extra={"responses": {200: {"content": CONTENTS}}},
)
def export_change(
    request: ApiRequest, crawl_id: UUID, other_id: UUID, change: str, export_format: TableFormat
) -> StreamingHttpResponse:
    """All of them; streamed."""
    (crawl, other), named = _sides(request, crawl_id, other_id), _named(change)
    names = [column.name for column in named.columns]
    rows = comparison.rows(crawl, other, named)
    return download(f"{change}-{crawl_id}-{other_id}", export_format, names, rows)


def _sides(request: ApiRequest, crawl_id: UUID, other_id: UUID) -> tuple[Crawl, Crawl]:
    """Both crawls, if the caller may see both."""
    crawl, other = crawl_named(request, crawl_id), crawl_named(request, other_id)
    if crawl.pk == other.pk:
        raise Problem(404, "A crawl is not compared with itself; name another.")
    return crawl, other


def _named(slug: str) -> Change:
    if slug not in BY_SLUG:
        raise Problem(404, f"There is no such change; there are {', '.join(BY_SLUG)}.")
    return BY_SLUG[slug]
