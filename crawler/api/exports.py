"""The doors of a crawl's exports: which there are, and each as a stream."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Router, Schema

from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.problems import Problem
from crawler.api.shapes.crawl import ROOT
from crawler.core.scopes import Scope
from crawler.exports.formats import FORMATS

CONTENTS = {
    "application/jsonl": {"example": '{"url": "https://example.com/", "status": 1, "http_status": 200, ...}\n'},
    "text/csv": {"example": "url,status,outcome,http_status,...\r\nhttps://example.com/,1,2xx,200,...\r\n"},
    "application/octet-stream": {"example": "what else there is"},
}
"""What is answered, by the format that is asked for."""

router = Router(tags=["exports"])


class Export(Schema):
    format: str
    url: str


class Exports(Schema):
    items: list[Export]


@router.get(
    "/{uuid:crawl_id}/exports",
    auth=needs(Scope.CRAWLS_READ),
    response=Exports,
    summary="List export formats",
    openapi_extra=described({"items": [{"format": "csv", "url": f"{ROOT}/.../exports/csv"}]}),
)
def list_exports(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Which formats there are, and where each can be had."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [{"format": name, "url": f"{ROOT}/{crawl.id}/exports/{name}"} for name in FORMATS]}


@router.get(
    "/{uuid:crawl_id}/exports/{export_format}",
    auth=needs(Scope.CRAWLS_READ),
    summary="Export the pages",
    openapi_extra={"responses": {200: {"content": CONTENTS}}},
)
def get_export(
    request: ApiRequest, crawl_id: UUID, export_format: str, externals: bool = False
) -> StreamingHttpResponse:
    """Streamed; of a crawl that still runs, the pages known by now. With `externals` the links that leave the site in
    their place."""
    crawl = crawl_named(request, crawl_id)
    if export_format not in FORMATS:
        raise Problem(404, f"There is no format {export_format!r}; there are {', '.join(FORMATS)}.")
    made = FORMATS[export_format]
    pieces = made(crawl, externals=externals)
    name = f"{'links' if externals else made.what}-{crawl.id}.{export_format.rpartition('.')[2]}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(pieces, content_type=made.media_type, headers=headers)
