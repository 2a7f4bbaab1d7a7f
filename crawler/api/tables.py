"""A table as a download: the formats there are, and the answer that streams one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from django.http import StreamingHttpResponse

from crawler.exports.table import MEDIA_TYPES, Cells, table_pieces


class TableFormat(StrEnum):
    """The formats a table can be had in."""

    CSV = "csv"
    JSONL = "jsonl"


CONTENTS: dict[str, Any] = {
    "text/csv": {"example": "url,answer\r\nhttps://example.com/gone,404\r\n"},
    "application/jsonl": {"example": '{"url": "https://example.com/gone", "answer": "404"}\n'},
}
"""What is answered, by the format that is asked for."""


def download(
    name: str, export_format: TableFormat, names: Sequence[str], rows: Iterable[Cells]
) -> StreamingHttpResponse:
    """The rows under these names of columns as a file with this name, streamed."""
    pieces = table_pieces(export_format, names, rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{export_format}"'}
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format], headers=headers)
