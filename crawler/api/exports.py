"""The doors of a crawl's exports: which there are, and each as a stream."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.problems import Problem
from crawler.api.shapes.crawl import ROOT
from crawler.api.shapes.page import ROW_EXAMPLE
from crawler.api.tables import contents_of
from crawler.core.scopes import Scope
from crawler.exports.formats import FORMATS, Format, file_name, formats_for
from crawler.exports.rows import KEYS
from crawler.models import Crawl

CONTENTS = {
    **contents_of(KEYS, ROW_EXAMPLE),
    **{
        made.media_type.partition(";")[0]: {"example": f"a file: {made.about}"}
        for made in FORMATS.values()
        if not made.media_type.startswith(("application/jsonl", "text/csv"))
    },
}
"""What is answered, by the format that is asked for."""

router = Router(tags=["exports"])


class Export(Schema):
    """A format in which this crawl has something to write."""

    format: str
    name: str
    about: str = Field(description="What is in it.")
    has_externals: bool = Field(description="It can hold the links to other sites in place of the pages.")
    url: str


class Exports(Schema):
    items: list[Export]


EXAMPLE = {
    "format": "csv",
    "name": "CSV",
    "about": FORMATS["csv"].about,
    "has_externals": True,
    "url": f"{ROOT}/.../exports/csv",
}


@router.get(
    "/{uuid:crawl_id}/exports",
    operation_id="exports_list_exports",
    auth=needs(Scope.CRAWLS_READ),
    response=Exports,
    summary="List export formats",
    openapi_extra=described({"items": [EXAMPLE]}),
)
def list_exports(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Which formats there are, and where each can be had."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [_shown(crawl, key, made) for key, made in formats_for(crawl).items()]}


@router.get(
    "/{uuid:crawl_id}/exports/{export_format}",
    operation_id="exports_get_export",
    auth=needs(Scope.CRAWLS_READ),
    summary="Export the pages",
    openapi_extra={"responses": {200: {"content": CONTENTS}}},
)
def get_export(
    request: ApiRequest,
    crawl_id: UUID,
    export_format: str,
    externals: Annotated[bool, Query(description="The links that leave the site in place of the pages.")] = False,
) -> StreamingHttpResponse:
    """Streamed; of a crawl that still runs, the pages known by now. With `externals` the links that leave the site in
    their place."""
    crawl = crawl_named(request, crawl_id)
    if export_format not in FORMATS:
        raise Problem(404, f"There is no format {export_format!r}; there are {', '.join(FORMATS)}.")
    made = FORMATS[export_format]
    pieces = made(crawl, externals=externals)
    name = file_name(crawl, export_format, externals=externals)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(pieces, content_type=made.media_type, headers=headers)


def _shown(crawl: Crawl, key: str, made: Format) -> dict[str, Any]:
    said = {"format": key, "name": made.name, "about": made.about, "has_externals": made.has_externals}
    return said | {"url": f"{ROOT}/{crawl.id}/exports/{key}"}
