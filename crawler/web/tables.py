"""A table as a download."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from django.http import Http404, StreamingHttpResponse

from crawler.exports.table import TABLES, Cells

LINES = 500  # sent at a time
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


def table_response(name: str, export_format: str, names: Sequence[str], rows: Iterable[Cells]) -> StreamingHttpResponse:
    """The rows under these names of columns as a file with this name, streamed; 404 for a format there is not."""
    if export_format not in TABLES:
        raise Http404
    pieces = _pieces(TABLES[export_format](names, rows))
    response = StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{export_format}"'
    return response


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """Many lines at a time: each piece costs the server a write."""
    while piece := "".join(islice(lines, LINES)):
        yield piece
