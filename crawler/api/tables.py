"""A table as a download: the formats there are, and the answer that streams one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from django.http import StreamingHttpResponse

from crawler.exports.table import MEDIA_TYPES, TABLES, Cells, table_pieces


class TableFormat(StrEnum):
    """The formats a table can be had in."""

    CSV = "csv"
    JSONL = "jsonl"


def contents_of(names: Sequence[str], row: Cells) -> dict[str, Any]:
    """What is answered, by the format that is asked for, with a table of this row as the example."""
    return {
        MEDIA_TYPES[table].partition(";")[0]: {"example": "".join(TABLES[table](names, [row]))} for table in TableFormat
    }


def download(
    name: str, export_format: TableFormat, names: Sequence[str], rows: Iterable[Cells]
) -> StreamingHttpResponse:
    """The rows under these names of columns as a file with this name, streamed."""
    pieces = table_pieces(export_format, names, rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{export_format}"'}
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format], headers=headers)
