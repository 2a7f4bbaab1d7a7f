"""A table as a download."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.http import Http404, StreamingHttpResponse

from crawler.exports.table import MEDIA_TYPES, TABLES, Cells, table_pieces


def table_response(name: str, export_format: str, names: Sequence[str], rows: Iterable[Cells]) -> StreamingHttpResponse:
    """The rows under these names of columns as a file with this name, streamed; 404 for a format there is not."""
    if export_format not in TABLES:
        raise Http404
    pieces = table_pieces(export_format, names, rows)
    response = StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{export_format}"'
    return response
