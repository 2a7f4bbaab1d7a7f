"""Pages of a long list in a web view: the page that the query string names, its rows, and the number of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from crawler.reports import text
from crawler.reports.catalogue.report import ReportRow, ReportRows

ROWS_PER_PAGE = 100

Row = TypeVar("Row", bound=Model)


def page_of(request: HttpRequest, rows: QuerySet[Row], rows_per_page: int | None = None) -> Page[Row]:
    """The page named by `page`; the first or the last when there is no such page."""
    return Paginator(rows, rows_per_page or ROWS_PER_PAGE).get_page(request.GET.get("page"))


def page_of_lines(request: HttpRequest, lines: ReportRows) -> Page[ReportRow]:
    """The same of the lines of a report."""
    paginator: Paginator[ReportRow] = Paginator(lines, ROWS_PER_PAGE)  # type: ignore[arg-type]  # it counts and slices only
    return paginator.get_page(request.GET.get("page"))


def paged(
    request: HttpRequest,
    rows: QuerySet[Row],
    shown: Callable[[Row], Any],
    *,
    noun: str = "page",
    rows_per_page: int | None = None,
) -> dict[str, Any]:
    """The context of a template with a list: the page, its rows as `shown` gives them, and the number of all rows."""
    found = page_of(request, rows, rows_per_page)
    return {"found": found, "rows": [shown(row) for row in found], "count": text.counted(found.paginator.count, noun)}
