"""Any table as a file: the rows of a report or of a comparison, streamed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from crawler.exports.csv import separate
from crawler.exports.jsonl import line_of

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
