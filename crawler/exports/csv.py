"""Comma-separated values (RFC 4180) that a spreadsheet can open without running any of it: pages, and any table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Unpack

import msgspec

from crawler.exports.jsonl import line_of
from crawler.exports.rows import Chosen, columns_of, rows
from crawler.models import Crawl

# What may stand in a cell that a spreadsheet opens: flat, and nothing that it would run.

_BEGINS = "[=+@\uff1d\uff0b\uff0d\uff20-]"  # a formula; the wide forms run as well
_UNSEEN = r"[\s\x00-\x20\x7f\xad\u200b-\u200f\u2060\ufeff]"  # programs leave out some of it, each of them other ones
_FORMULA = re.compile(rf"{_UNSEEN}*{_BEGINS}|[\t\r\n]")
"""What makes a spreadsheet take a cell for a formula. Titles and errors are written by strangers."""

_LATER = re.compile(rf'([;\t\r\n])(?=[\s"]*{_BEGINS})')
"""Where a formula would begin if the file were cut at semicolons, tabs or line ends, whatever the quotes around them:
so do spreadsheets where a comma is the decimal mark (OWASP, "CSV Injection")."""

_as_json = msgspec.json.Encoder().encode


def flat(value: Any) -> Any:
    """The value as one harmless cell; a list or an object as JSON."""
    return defused(_as_json(value).decode() if isinstance(value, list | dict) else value)


def defused(cell: Any) -> Any:
    """The cell, behind an apostrophe when it is text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def separate(value: Any) -> Any:
    """The value as a harmless cell of a file in which commas separate cells, and which not everybody cuts there."""
    cell = flat(value)
    if not isinstance(cell, str) or not (";" in cell or "\t" in cell or "\n" in cell or "\r" in cell):
        return cell  # nearly all are: this costs a tenth of what the pattern does
    return _LATER.sub(r"\1'", cell)


def lines(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[str]:
    """The header and one record a page, each ending with CR LF."""
    names = [column.name for column in columns_of(crawl)]
    return table(names, (row.values() for row in rows(crawl, **chosen)))


def table(names: Sequence[str], records: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Any table in this form: its header, and one record a row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(map(separate, names))
    yield _taken(buffer)
    for record in records:
        writer.writerow(map(separate, record))
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


# Any table as a file: the rows of a report or of a comparison, streamed.

Cells = Sequence[str | int | None]

LINES = 500  # sent at a time


def csv_lines(names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """The header and one record a row (RFC 4180), none of which a spreadsheet runs as a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(names)
    yield buffer.getvalue()
    for row in rows:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(map(separate, row))
        yield buffer.getvalue()


def json_lines(names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """One JSON object a line."""
    for row in rows:
        yield line_of(dict(zip(names, row, strict=True)))


TABLES: dict[str, Callable[[Sequence[str], Iterable[Cells]], Iterator[str]]] = {
    "csv": csv_lines,
    "jsonl": json_lines,
}
"""Format -> the function that gives a table's text from the names of its columns and its rows."""

MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


def table_pieces(export_format: str, names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """The file, many lines at a time: each piece costs a server a write."""
    lines = TABLES[export_format](names, rows)
    while piece := "".join(islice(lines, LINES)):
        yield piece
