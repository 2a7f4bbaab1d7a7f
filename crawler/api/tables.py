"""A table as a download: the formats there are, and the answer that streams one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any

from django.http import StreamingHttpResponse

from crawler.exports.table import TABLES, Cells

LINES = 500  # sent at a time


class TableFormat(StrEnum):
    """The formats a table can be had in."""

    CSV = "csv"
    JSONL = "jsonl"


MEDIA_TYPES = {TableFormat.CSV: "text/csv; charset=utf-8", TableFormat.JSONL: "application/jsonl"}
CONTENTS: dict[str, Any] = {
    "text/csv": {"example": "url,answer\r\nhttps://example.com/gone,404\r\n"},
    "application/jsonl": {"example": '{"url": "https://example.com/gone", "answer": "404"}\n'},
}
"""What is answered, by the format that is asked for."""


def download(
    name: str, export_format: TableFormat, names: Sequence[str], rows: Iterable[Cells]
) -> StreamingHttpResponse:
    """The rows under these names of columns as a file with this name, streamed."""
    pieces = _pieces(TABLES[export_format](names, rows))
    headers = {"Content-Disposition": f'attachment; filename="{name}.{export_format}"'}
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format], headers=headers)


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """Many lines at a time: each piece costs the server a write."""
    while piece := "".join(islice(lines, LINES)):
        yield piece
