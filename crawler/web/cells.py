"""The lines of a report as a template shows them: the text of each cell, and where it leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from crawler.models import Crawl
from crawler.reports import words
from crawler.reports.catalogue.report import Cell, Column, Kind, Line, Lines
from crawler.web import paging

TONES = {"2": "good", "3": "calm", "4": "warn", "5": "bad"}


def table_of(
    request: HttpRequest,
    crawl: Crawl,
    columns: Sequence[Column],
    lines: Lines,
    opened: Callable[[str], str],
    *,
    bars: bool = False,
) -> dict[str, Any]:
    """What the template of a table needs; `opened` gives the address of what lies behind a line. With `bars` the number
    that leads there has a bar beside it, as long as the number is large."""
    paginator: Paginator[Line] = Paginator(lines, paging.PER_PAGE)  # type: ignore[arg-type]  # it only counts and slices
    found = paginator.get_page(request.GET.get("page"))
    rows = [_row(crawl, columns, line, opened) for line in found.object_list]
    if bars:
        _draw_bars([cell for row in rows for cell in row if "opens" in cell])
    return {"columns": columns, "found": found, "rows": rows}


def _row(crawl: Crawl, columns: Sequence[Column], line: Line, opened: Callable[[str], str]) -> list[dict[str, Any]]:
    cells = [_cell(column, cell) for column, cell in zip(columns, line.cells, strict=True)]
    for column, cell in zip(columns, cells, strict=True):
        if column.opens and line.part:
            cell["opens"] = opened(line.part)
    if line.page is not None:
        cells[0]["page"] = page_address(crawl, line.page)
    return cells


def _draw_bars(cells: Sequence[dict[str, Any]]) -> None:
    longest = max((cell["number"] for cell in cells), default=0)
    for cell in cells:
        cell["bar"] = {"value": cell["number"], "max": longest}


def _cell(column: Column, cell: Cell) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": column.title, "kind": column.kind.value}
    match column.kind:
        case Kind.URL:
            return shown | {"links": [_link(url) for url in str(cell or "").split("\n") if url]}
        case Kind.ANSWER:
            return shown | {"text": str(cell or ""), "tone": TONES.get(str(cell)[:1], "bad")}
        case _:
            return shown | {"text": _text(column.kind, cell), "number": cell}


def _link(url: str) -> dict[str, str]:
    """Only what is a web address can be opened: what sites write may be a script."""
    return {"text": url, "href": url if url.startswith(("http://", "https://")) else ""}


def _text(kind: Kind, cell: Cell) -> str:
    if cell is None:
        return words.DASH
    match kind:
        case Kind.NUMBER:
            return words.count(int(cell))
        case Kind.MILLISECONDS:
            return f"{int(cell):,} ms"
        case Kind.BYTES:
            return words.size(int(cell))
        case _:
            return str(cell)


def page_address(crawl: Crawl, page: int) -> str:
    """The address of a page's own view; "" where there is none."""
    try:
        return reverse("page-detail", args=[crawl.id, page])
    except NoReverseMatch:
        return ""


def names(columns: Iterable[Column]) -> list[str]:
    return [column.name for column in columns]
