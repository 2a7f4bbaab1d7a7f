"""Endpoints of exports and of kept content, which is untrusted and therefore sent as a download in a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from ninja import Query, Schema
from pydantic import Field

from crawler.api.addresses import address
from crawler.api.callers import ApiRequest
from crawler.api.lookups import crawl_named, page_named
from crawler.api.openapi import A_CRAWL, Operations
from crawler.api.problems import Problem
from crawler.api.schemas.crawl import ROOT
from crawler.api.schemas.fields import fields_of
from crawler.api.schemas.page import ROW_EXAMPLE, PageId
from crawler.core.access.permissions import Scope
from crawler.core.pages import content_formats
from crawler.core.text.gzip import Broken
from crawler.exports.csv import MEDIA_TYPES, TABLES, Cells, table_pieces
from crawler.exports.formats import FORMATS, Format, file_name, formats_for
from crawler.exports.rows import KEYS
from crawler.models import Crawl, PageFacts
from crawler.storage.content.kept import content_of, ending_of, is_kept, media_type_of
from crawler.storage.content.objects import ObjectMissing

PAGE_CONTENTS = {
    "text/plain": {"example": "# Documentation\n\nHow to use it.\n"},
    "application/octet-stream": {"example": "a WARC file, packed by gzip"},
    "image/webp": {"example": "a screenshot, or image/png, image/jpeg as the crawl chose"},
    "application/pdf": {"example": "the page as a PDF"},
}

content_router = Operations("content", tag="pages", below=A_CRAWL)


class Form(StrEnum):
    """The forms a page's content can be kept in."""

    HTML = content_formats.HTML
    TEXT = content_formats.TEXT
    MARKDOWN = content_formats.MARKDOWN
    WARC = content_formats.WARC
    SCREENSHOT = content_formats.SCREENSHOT
    PDF = content_formats.PDF


@content_router.on(
    "GET /pages/{page_id}/content/{form}", "Get a page's content", Scope.CRAWLS_READ, content=PAGE_CONTENTS
)
def get_content(request: ApiRequest, crawl_id: UUID, page_id: PageId, form: Form) -> HttpResponse:
    """`html`, `text` and `markdown` as plain text in UTF-8, `warc`, `screenshot` and `pdf` as they are. The crawl must
    have been started with `keep`; `kept` of the page lists its forms."""
    crawl = crawl_named(request, crawl_id)
    page = page_named(crawl, page_id)
    facts = PageFacts.objects.filter(page_id=page.pk).first()
    if facts is None or not is_kept(facts, form):
        raise Problem(404, f"This page was not stored as {form.value}; start the crawl with `keep`.")
    try:
        content = content_of(facts, form)
    except (ObjectMissing, Broken) as error:
        raise Problem(410, f"This is not available: {error}.") from None
    name = f"page-{page.pk}.{ending_of(form, crawl)}"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return HttpResponse(content, content_type=media_type_of(form, crawl), headers=headers)


class TableFormat(StrEnum):
    """The formats of a table."""

    CSV = "csv"
    JSONL = "jsonl"


def contents_of(names: Sequence[str], row: Cells) -> dict[str, Any]:
    """The response by format, with a table of this row as the example."""
    return {
        MEDIA_TYPES[table].partition(";")[0]: {"example": "".join(TABLES[table](names, [row]))} for table in TableFormat
    }


def download(
    name: str, export_format: TableFormat, names: Sequence[str], rows: Iterable[Cells]
) -> StreamingHttpResponse:
    """A table as a streamed file."""
    pieces = table_pieces(export_format, names, rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{export_format}"'}
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[export_format], headers=headers)


CONTENTS = {
    **contents_of(KEYS, ROW_EXAMPLE),
    **{
        made.media_type.partition(";")[0]: {"example": f"a file: {made.about}"}
        for made in FORMATS.values()
        if not made.media_type.startswith(("application/jsonl", "text/csv"))
    },
}
"""The response by format."""

router = Operations("exports", below=A_CRAWL)


class Export(Schema):
    """A format this crawl can be exported to."""

    format: str
    name: str
    about: str = Field(description="Its content.")
    has_externals: bool = Field(description="It can contain the links to other sites instead of the pages.")
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


@router.on("GET /exports", "List export formats", Scope.CRAWLS_READ, Exports, {"items": [EXAMPLE]})
def list_exports(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """The formats of this crawl that are installed, each with its address."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [_shown(crawl, key, made) for key, made in formats_for(crawl).items() if not made.missing]}


@router.on("GET /exports/{export_format}", "Export the pages", Scope.CRAWLS_READ, content=CONTENTS)
def get_export(
    request: ApiRequest,
    crawl_id: UUID,
    export_format: str,
    externals: Annotated[bool, Query(description="The links to other sites instead of the pages.")] = False,
) -> StreamingHttpResponse:
    """Streamed; of a running crawl, the current pages. With `externals`, links to other sites in their place."""
    crawl = crawl_named(request, crawl_id)
    if export_format not in FORMATS:
        raise Problem(404, f"Unknown format {export_format!r}; choose from {', '.join(FORMATS)}.")
    made = FORMATS[export_format]
    pieces = made(crawl, externals=externals)
    name = file_name(crawl, export_format, externals=externals)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(pieces, content_type=made.media_type, headers=headers)


def _shown(crawl: Crawl, key: str, made: Format) -> dict[str, Any]:
    return fields_of(Export, made, format=key, url=address("crawls", crawl.id, "exports", key))
