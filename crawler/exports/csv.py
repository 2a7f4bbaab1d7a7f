"""Comma-separated values (RFC 4180) of pages and of any table, without cells that a spreadsheet runs as formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Unpack

import msgspec

from crawler.exports.jsonl import line_of
from crawler.exports.rows import ExportFilter, columns_of, rows
from crawler.models import Crawl

_FORMULA_START = "[=+@\uff1d\uff0b\uff0d\uff20-]"  # the full-width forms work as well
_IGNORED = r"[\s\x00-\x20\x7f\xad\u200b-\u200f\u2060\ufeff]"  # each program ignores some of these
_FORMULA = re.compile(rf"{_IGNORED}*{_FORMULA_START}|[\t\r\n]")
"""Cells that a spreadsheet takes for a formula. The crawled sites write titles and errors."""

_INNER_FORMULA = re.compile(rf'([;\t\r\n])(?=[\s"]*{_FORMULA_START})')
"""A formula behind a semicolon, tab or line end: where a comma is the decimal mark, spreadsheets split cells there,
even within quotes (OWASP, "CSV Injection")."""

_as_json = msgspec.json.Encoder().encode


def flat(value: Any) -> Any:
    """The value as one cell without a formula; a list or an object as JSON."""
    return defused(_as_json(value).decode() if isinstance(value, list | dict) else value)


def defused(cell: Any) -> Any:
    """The cell, with an apostrophe before text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def separate(value: Any) -> Any:
    """The value as a cell without a formula, even where a spreadsheet splits the file at other separators."""
    cell = flat(value)
    if not isinstance(cell, str) or not (";" in cell or "\t" in cell or "\n" in cell or "\r" in cell):
        return cell  # true of most cells, and ten times as fast as the pattern
    return _INNER_FORMULA.sub(r"\1'", cell)


def lines(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str]:
    """The header and one record a page, each ending with CR LF."""
    names = [column.name for column in columns_of(crawl)]
    return table(names, (row.values() for row in rows(crawl, **chosen)))


def table(names: Sequence[str], records: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Any table: its header, and one record a row."""
    yield record(names)
    yield from map(record, records)


def record(cells: Iterable[Any]) -> str:
    """One line, ending with CR LF."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow(map(separate, cells))
    return buffer.getvalue()


# Any table as a file: the rows of a report or of a comparison, streamed.

Cells = Sequence[str | int | None]

LINES_PER_PIECE = 500


def json_lines(names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """One JSON object a line."""
    for row in rows:
        yield line_of(dict(zip(names, row, strict=True)))


TABLES: dict[str, Callable[[Sequence[str], Iterable[Cells]], Iterator[str]]] = {"csv": table, "jsonl": json_lines}
"""Format -> the function that gives the text of a table from the names of its columns and its rows."""

MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


def table_pieces(export_format: str, names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """The file, many lines at a time, because each piece costs the server a write."""
    lines = TABLES[export_format](names, rows)
    while piece := "".join(islice(lines, LINES_PER_PIECE)):
        yield piece
