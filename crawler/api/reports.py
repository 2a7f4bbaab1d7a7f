"""The doors of a crawl's reports: all with their numbers; each with its lines, what lies behind one, and as a file."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Query, Router

from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.paging import Cursor, Limit
from crawler.api.problems import Problem
from crawler.api.shapes import report as shapes
from crawler.api.shapes.table import table_of
from crawler.api.tables import TableFormat, contents_of, download
from crawler.core.scopes import Scope
from crawler.reports.catalogue.counted import BUDGET, number_of, numbers_of
from crawler.reports.catalogue.entries import BY_SLUG, REPORTS
from crawler.reports.catalogue.lines import Listed
from crawler.reports.catalogue.report import Report

CONTENTS = contents_of(
    [column.name for column in BY_SLUG["broken-links"].whole_columns],
    ("https://example.com/gone", "404", "https://example.com/", "Gone", ""),
)

router = Router(tags=["reports"])


@router.get(
    "/{uuid:crawl_id}/reports",
    operation_id="reports_list_reports",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Reports,
    summary="List reports",
    openapi_extra=described({"items": [shapes.ENTRY_EXAMPLE], "is_counting": False}),
)
def list_reports(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Each with its number. Of a large crawl some take long to count: their number is null until you ask again."""
    crawl = crawl_named(request, crawl_id)
    numbers = numbers_of(crawl, BUDGET)
    items = [shapes.entry_of(crawl, report, numbers.get(report.slug)) for report in REPORTS]
    return {"items": items, "is_counting": any(item["number"] is None and not item["lacking"] for item in items)}


@router.get(
    "/{uuid:crawl_id}/reports/{slug}",
    operation_id="reports_get_report",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.ReportWhole,
    summary="Get a report",
    openapi_extra=described(shapes.EXAMPLE),
)
def get_report(
    request: ApiRequest, crawl_id: UUID, slug: str, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """A page of its lines, under the columns it has. `lacking` says why a crawl cannot tell; then there are none."""
    crawl, report = crawl_named(request, crawl_id), _named(slug)
    lacking = report.lacking(crawl)
    lines = Listed([]) if lacking else report.lines(crawl)
    number = None if lacking else number_of(crawl, report)
    return shapes.entry_of(crawl, report, number) | table_of(request, report.columns, lines.__getitem__, cursor, limit)


@router.get(
    "/{uuid:crawl_id}/reports/{slug}/lines",
    operation_id="reports_get_report_part",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.ReportPart,
    summary="Open a line of a report",
    openapi_extra=described(shapes.PART_EXAMPLE),
)
def get_report_part(
    request: ApiRequest,
    crawl_id: UUID,
    slug: str,
    key: Annotated[str, Query(max_length=5000, description="The `key` of the line.")],
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """What lies behind it: the links to a broken page, the pages that share a title, the hops of a redirect."""
    crawl, report = crawl_named(request, crawl_id), _named(slug)
    part = None if report.lacking(crawl) else report.part(crawl, key)
    if part is None:
        raise Problem(404, f"The report {slug} has no line with this key of which there is more.")
    return {"title": part.title, **table_of(request, part.columns, part.lines.__getitem__, cursor, limit)}


@router.get(
    "/{uuid:crawl_id}/reports/{slug}/exports/{export_format}",
    operation_id="reports_export_report",
    auth=needs(Scope.CRAWLS_READ),
    summary="Export a report",
    openapi_extra={"responses": {200: {"content": CONTENTS}}},
)
def export_report(request: ApiRequest, crawl_id: UUID, slug: str, export_format: TableFormat) -> StreamingHttpResponse:
    """All of it, with what lies behind its lines; streamed."""
    crawl, report = crawl_named(request, crawl_id), _named(slug)
    rows = () if report.lacking(crawl) else report.rows(crawl)
    names = [column.name for column in report.whole_columns]
    return download(f"{slug}-{crawl.id}", export_format, names, rows)


def _named(slug: str) -> Report:
    if slug not in BY_SLUG:
        raise Problem(404, f"There is no such report; there are {', '.join(BY_SLUG)}.")
    return BY_SLUG[slug]
