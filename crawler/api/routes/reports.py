"""Endpoints of the graph, the reports and the comparisons of a crawl."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Query

from crawler.accounts.permissions import visible_crawls
from crawler.api.callers import ApiRequest
from crawler.api.lookups import crawl_named
from crawler.api.openapi import A_CRAWL, Operations
from crawler.api.paging import Cursor, Limit
from crawler.api.problems import Problem
from crawler.api.routes.exports import TableFormat, contents_of, download
from crawler.api.schemas import reports as shapes
from crawler.api.schemas.crawl import line_of
from crawler.api.schemas.reports import table_of
from crawler.core.access.permissions import Scope
from crawler.models import Crawl
from crawler.reports import comparison
from crawler.reports.catalogue.entries import BUDGET, BY_SLUG, REPORTS, number_of, numbers_of
from crawler.reports.catalogue.report import Report, RowList
from crawler.reports.comparison import CHANGES_BY_SLUG, Change, ChangedPages, changes_between
from crawler.reports.graph import graph_of

graph_router = Operations("graph", tag="crawls", below=A_CRAWL)


@graph_router.on("GET /graph", "Get the site graph", Scope.CRAWLS_READ, shapes.SiteGraph, shapes.GRAPH_EXAMPLE)
def get_graph(
    request: ApiRequest,
    crawl_id: UUID,
    within: Annotated[str, Query(max_length=4096, description="Only pages whose URLs have this prefix.")] = "",
) -> dict[str, Any]:
    """Small enough to draw: of more than 2,000 pages the nodes are folders, and `within` opens one. The exports
    `links.csv` and `graphml` have all links."""
    return shapes.graph_shown(graph_of(crawl_named(request, crawl_id), within))


CONTENTS = contents_of(
    [column.name for column in BY_SLUG["broken-links"].whole_columns],
    ("https://example.com/gone", "404", "https://example.com/", "Gone", ""),
)

router = Operations("reports", below=A_CRAWL)


@router.on(
    "GET /reports",
    "List reports",
    Scope.CRAWLS_READ,
    shapes.Reports,
    {"items": [shapes.ENTRY_EXAMPLE], "is_counting": False},
)
def list_reports(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Each with its number; null while it is being counted, which can take long for a large crawl."""
    crawl = crawl_named(request, crawl_id)
    numbers = numbers_of(crawl, BUDGET)
    items = [shapes.entry_of(crawl, report, numbers.get(report.slug)) for report in REPORTS]
    return {"items": items, "is_counting": any(item["number"] is None and not item["lacking"] for item in items)}


@router.on("GET /reports/{slug}", "Get a report", Scope.CRAWLS_READ, shapes.ReportWhole, shapes.REPORT_EXAMPLE)
def get_report(
    request: ApiRequest, crawl_id: UUID, slug: str, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """A page of its lines, with its columns. Without data there are no lines, and `lacking` is the reason."""
    crawl, report = crawl_named(request, crawl_id), _named(slug)
    lacking = report.lacking(crawl)
    lines = RowList([]) if lacking else report.lines(crawl)
    number = None if lacking else number_of(crawl, report)
    return shapes.entry_of(crawl, report, number) | table_of(request, report.columns, lines.__getitem__, cursor, limit)


@router.on(
    "GET /reports/{slug}/lines", "Open a line of a report", Scope.CRAWLS_READ, shapes.ReportPart, shapes.PART_EXAMPLE
)
def get_report_part(
    request: ApiRequest,
    crawl_id: UUID,
    slug: str,
    key: Annotated[str, Query(max_length=5000, description="The `key` of the line.")],
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """The part of a line: the links to a broken page, or the pages that share a title."""
    crawl, report = crawl_named(request, crawl_id), _named(slug)
    part = None if report.lacking(crawl) else report.part(crawl, key)
    if part is None:
        raise Problem(404, f"The report {slug} has no line with this key and details.")
    return {"title": part.title, **table_of(request, part.columns, part.lines.__getitem__, cursor, limit)}


@router.on("GET /reports/{slug}/exports/{export_format}", "Export a report", Scope.CRAWLS_READ, content=CONTENTS)
def export_report(request: ApiRequest, crawl_id: UUID, slug: str, export_format: TableFormat) -> StreamingHttpResponse:
    """The whole report with the parts of its lines, streamed."""
    crawl, report = crawl_named(request, crawl_id), _named(slug)
    rows = () if report.lacking(crawl) else report.rows(crawl)
    names = [column.name for column in report.whole_columns]
    return download(f"{slug}-{crawl.id}", export_format, names, rows)


def _named(slug: str) -> Report:
    if slug not in BY_SLUG:
        raise Problem(404, f"Unknown report; choose from {', '.join(BY_SLUG)}.")
    return BY_SLUG[slug]


COMPARISON_CONTENTS = contents_of(
    [column.name for column in CHANGES_BY_SLUG["gone"].columns], ("https://example.com/gone", "404", "Not found")
)

comparison_router = Operations("comparisons", below=A_CRAWL)


@comparison_router.on(
    "GET /comparisons", "List crawls to compare with", Scope.CRAWLS_READ, shapes.Comparable, shapes.COMPARABLE_EXAMPLE
)
def list_comparable(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """The previous run first, then others with the same start URLs, newest first. Any other crawl can be compared,
    too."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [line_of(other) for other in comparison.comparable(crawl, visible_crawls(request.user))]}


@comparison_router.on(
    "GET /comparisons/{uuid:other_id}",
    "Compare two crawls",
    Scope.CRAWLS_READ,
    shapes.Comparison,
    shapes.COMPARISON_EXAMPLE,
)
def get_comparison(request: ApiRequest, crawl_id: UUID, other_id: UUID) -> dict[str, Any]:
    """The numbers of new, removed and changed pages since the other crawl, which counts as the earlier one."""
    return shapes.comparison_of(*_sides(request, crawl_id, other_id))


@comparison_router.on(
    "GET /comparisons/{uuid:other_id}/{change}",
    "List pages that differ",
    Scope.CRAWLS_READ,
    shapes.ChangeWhole,
    shapes.CHANGE_EXAMPLE,
)
def get_change(
    request: ApiRequest, crawl_id: UUID, other_id: UUID, change: str, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """The pages that differ in one way: `new`, `gone`, `status`, `title` or `content`."""
    (crawl, other), named = _sides(request, crawl_id, other_id), _comparison_named(change)
    number = changes_between(crawl, other)[named.slug]
    table = table_of(request, named.columns, ChangedPages(crawl, other, named, number).__getitem__, cursor, limit)
    return shapes.compared_entry_of(crawl, other, named, number) | table


@comparison_router.on(
    "GET /comparisons/{uuid:other_id}/{change}/exports/{export_format}",
    "Export pages that differ",
    Scope.CRAWLS_READ,
    content=COMPARISON_CONTENTS,
)
def export_change(
    request: ApiRequest, crawl_id: UUID, other_id: UUID, change: str, export_format: TableFormat
) -> StreamingHttpResponse:
    """All pages that differ in one way, streamed."""
    (crawl, other), named = _sides(request, crawl_id, other_id), _comparison_named(change)
    names = [column.name for column in named.columns]
    rows = comparison.rows(crawl, other, named)
    return download(f"{change}-{crawl_id}-{other_id}", export_format, names, rows)


def _sides(request: ApiRequest, crawl_id: UUID, other_id: UUID) -> tuple[Crawl, Crawl]:
    """Both crawls, if the caller may see both."""
    crawl, other = crawl_named(request, crawl_id), crawl_named(request, other_id)
    if crawl.pk == other.pk:
        raise Problem(404, "A crawl cannot be compared with itself; choose another.")
    return crawl, other


def _comparison_named(slug: str) -> Change:
    if slug not in CHANGES_BY_SLUG:
        raise Problem(404, f"Unknown change; choose from {', '.join(CHANGES_BY_SLUG)}.")
    return CHANGES_BY_SLUG[slug]
