"""Rows of lists and tables in templates: pages, traps, and the lines of reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.urls import reverse

from crawler.core.pages.outcomes import STATUS_TONES, Tone
from crawler.core.protocol.messages import EXTERNAL, SITEMAP
from crawler.core.urls.normalise import href_of
from crawler.exports.csv import MEDIA_TYPES, TABLES, Cells, table_pieces
from crawler.models import Crawl, Page
from crawler.reports import text
from crawler.reports.catalogue.page_queries import answer
from crawler.reports.catalogue.report import Cell, CellType, ReportColumn, ReportRow, ReportRows
from crawler.reports.page_table import size, total_time
from crawler.reports.traps import TrapReport
from crawler.web.tables.paging import page_of_lines

Row = dict[str, str]
"""The text of each cell, with `href` (the target of a link) and `tone` (good, warn, bad, calm)."""

KINDS = {SITEMAP: "Sitemap", EXTERNAL: "Another site"}
"""The type of a row that is no page of the site."""


def page_row(page: Page) -> Row:
    """The response, and a note on the URL."""
    return {
        "key": str(page.pk),
        "answer": answer(page.outcome, page.http_status),
        "meaning": text.outcome(page.outcome),
        "url": page.url,
        "href": href_of(page.url),
        "note": note(page, page.title),
        "time": total_time(page),
        "size": size(page),
        "tone": text.tone(page.outcome),
    }


def dead_letter_row(page: Page) -> Row:
    """The same with the number of attempts."""
    return {**page_row(page), "tries": "1 try" if page.attempts == 1 else f"{text.count(page.attempts)} tries"}


def note(page: Page, otherwise: str = "") -> str:
    """Its kind, and its error or the target of its redirect."""
    leads_to = f"→ {page.redirect_to}" if page.redirect_to else ""
    return ": ".join(filter(None, [KINDS.get(page.kind), page.error or leads_to or otherwise]))


def trap_row(caught: TrapReport) -> Row:
    """A trap with some of its pages; without a key it is released already."""
    return {
        "key": "" if caught.trap.released else str(caught.trap.pk),
        "reason": caught.reason,
        "pattern": caught.trap.pattern,
        "examples": "\n".join([*(page.url for page in caught.examples), *filter(None, [caught.beyond])]),
        "remedy": "" if caught.trap.released else f"{caught.evidence} {caught.remedy}".strip(),
        "number": caught.number,
        "tone": "calm" if caught.trap.released else "warn",
    }


def table_response(name: str, export_format: str, names: Sequence[str], rows: Iterable[Cells]) -> StreamingHttpResponse:
    """A table as a streamed file; 404 for an unknown format."""
    if export_format not in TABLES:
        raise Http404
    pieces = table_pieces(export_format, names, rows)
    response = StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{export_format}"'
    return response


# The lines of a report as a template shows them: the text of each cell, and where it leads.


def table_of(
    request: HttpRequest,
    crawl: Crawl,
    columns: Sequence[ReportColumn],
    lines: ReportRows,
    opened: Callable[[str], str],
    *,
    bars: bool = False,
) -> dict[str, Any]:
    """The context of a table; `opened` gives the address of the part of a line. With `bars` the number that links to it
    has a bar of that length."""
    found = page_of_lines(request, lines)
    rows = [_row(crawl, columns, line, opened) for line in found.object_list]
    if bars:
        _draw_bars([cell for row in rows for cell in row if "opens" in cell])
    return {"columns": columns, "found": found, "rows": rows}


def _row(
    crawl: Crawl, columns: Sequence[ReportColumn], line: ReportRow, opened: Callable[[str], str]
) -> list[dict[str, Any]]:
    cells = [_cell(column, cell) for column, cell in zip(columns, line.cells, strict=True)]
    for column, cell in zip(columns, cells, strict=True):
        if column.opens and line.part:
            cell["opens"] = opened(line.part)
    if line.page is not None:
        cells[0]["page"] = reverse("page-detail", args=[crawl.id, line.page])
    return cells


def _draw_bars(cells: Sequence[dict[str, Any]]) -> None:
    longest = max((cell["number"] for cell in cells), default=0)
    for cell in cells:
        cell["bar"] = {"value": cell["number"], "max": longest}


def _cell(column: ReportColumn, cell: Cell) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": column.title, "kind": column.kind.value}
    match column.kind:
        case CellType.URL:
            return shown | {"links": [_link(url) for url in str(cell or "").split("\n") if url]}
        case CellType.ANSWER:
            return shown | {"text": str(cell or ""), "tone": STATUS_TONES.get(str(cell)[:1], Tone.ERROR)}
        case _:
            return shown | {"text": _text(column.kind, cell), "number": cell}


def _link(url: str) -> dict[str, str]:
    return {"text": url, "href": href_of(url)}


def _text(kind: CellType, cell: Cell) -> str:
    if cell is None:
        return text.DASH
    match kind:
        case CellType.NUMBER:
            return text.count(int(cell))
        case CellType.MILLISECONDS:
            return f"{int(cell):,} ms"
        case CellType.BYTES:
            return text.size(int(cell))
        case _:
            return str(cell)


def names(columns: Iterable[ReportColumn]) -> list[str]:
    return [column.name for column in columns]
