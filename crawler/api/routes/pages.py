"""Endpoints of pages: the list with its filters, dead letters, orphans, one page with its links, and traps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Query

from crawler.api.addresses import address
from crawler.api.callers import ApiRequest
from crawler.api.lookups import crawl_named, page_named
from crawler.api.openapi import A_CRAWL, Operations
from crawler.api.paging import Cursor, Limit, by_id, by_order, by_position
from crawler.api.routes.exports import TableFormat, contents_of
from crawler.api.schemas import crawl as trap_schemas
from crawler.api.schemas import page as shapes
from crawler.api.schemas.crawl import ROOT
from crawler.api.schemas.fields import fields_of
from crawler.api.schemas.page import PageFilters, PageId
from crawler.core.access.permissions import Right, Scope
from crawler.core.html import link_codec
from crawler.core.urls.normalise import key_of
from crawler.crawls.retry import release
from crawler.exports.formats import FORMATS
from crawler.exports.rows import KEYS
from crawler.models import Crawl, Page, PageLinks
from crawler.reports import traps
from crawler.reports.links import dead_letters, inlinks, orphans
from crawler.reports.page_detail import path_to, redirects_of

PAGES_EXAMPLE = {"items": [shapes.EXAMPLE], "next": f"{ROOT}/.../pages?cursor=NDcxMQ"}


router = Operations("pages", below=A_CRAWL)


@router.on("GET /pages", "List pages", Scope.CRAWLS_READ, shapes.PageList, PAGES_EXAMPLE)
def list_pages(
    request: ApiRequest,
    crawl_id: UUID,
    chosen: Annotated[PageFilters, Query()],
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """In the order of their discovery, or by `sort`. Rows are as in an export."""
    crawl = crawl_named(request, crawl_id)
    return by_order(request, lambda after: chosen.pages(crawl, after), cursor, limit, shapes.lines_of)


@router.on(
    "GET /pages/exports/{export_format}",
    "Export chosen pages",
    Scope.CRAWLS_READ,
    content=contents_of(KEYS, shapes.ROW_EXAMPLE),
)
def export_pages(
    request: ApiRequest, crawl_id: UUID, export_format: TableFormat, chosen: Annotated[PageFilters, Query()]
) -> StreamingHttpResponse:
    """All pages that pass the filters in the same order, streamed."""
    crawl = crawl_named(request, crawl_id)
    made = FORMATS[export_format]
    headers = {"Content-Disposition": f'attachment; filename="pages-{crawl.id}.{export_format}"'}
    pieces = made(crawl, among=chosen.pages(crawl))
    return StreamingHttpResponse(pieces, content_type=made.media_type, headers=headers)


@router.on(
    "GET /dead-letters",
    "List dead letters",
    Scope.CRAWLS_READ,
    shapes.PageList,
    {"items": [{**shapes.EXAMPLE, "outcome": "timeout", "given_up": True}], "next": None},
)
def list_dead_letters(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """Failed pages that another attempt might fetch; `retry-failed` retries them."""
    return by_id(request, dead_letters(crawl_named(request, crawl_id)), cursor, limit, shapes.lines_of)


@router.on(
    "GET /orphans",
    "List orphans",
    Scope.CRAWLS_READ,
    shapes.PageList,
    {"items": [{**shapes.EXAMPLE, "in_sitemap": True, "linked": False}], "next": None},
)
def list_orphans(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """Pages that a sitemap names and no other page links to."""
    return by_id(request, orphans(crawl_named(request, crawl_id)), cursor, limit, shapes.lines_of)


@router.on("GET /pages/{page_id}", "Get a page", Scope.CRAWLS_READ, shapes.PageDetail, shapes.WHOLE_EXAMPLE)
def get_page(request: ApiRequest, crawl_id: UUID, page_id: PageId) -> dict[str, Any]:
    """With headers and metadata."""
    page = page_named(crawl_named(request, crawl_id), page_id)
    return shapes.whole_of(page, address("crawls", crawl_id, "pages", page.pk))


@router.on(
    "GET /pages/{page_id}/links-out",
    "List a page's links",
    Scope.CRAWLS_READ,
    shapes.LinksOut,
    {
        "items": [
            {"url": "https://example.com/a", "text": "A", "rel": "", "page": 4712, "http_status": 404, "outcome": "4xx"}
        ],
        "next": None,
    },
)
def list_links_out(
    request: ApiRequest, crawl_id: UUID, page_id: PageId, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """In document order, each with the outcome of its target."""
    crawl = crawl_named(request, crawl_id)
    page = page_named(crawl, page_id)
    row = PageLinks.objects.filter(page_id=page.pk).first()
    links = link_codec.unpacked(bytes(row.packed), page.url) if row else []
    listed = by_position(request, lambda places: links[places], cursor, limit)
    return {**listed, "items": _with_targets(crawl, listed["items"])}


@router.on(
    "GET /pages/{page_id}/links-in",
    "List links to a page",
    Scope.CRAWLS_READ,
    shapes.LinksIn,
    {"items": [{"page": "https://example.com/", "text": "A", "rel": ""}], "next": None},
)
def list_links_in(
    request: ApiRequest, crawl_id: UUID, page_id: PageId, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """From the pages of this crawl, in the order of their discovery."""
    crawl = crawl_named(request, crawl_id)
    url = page_named(crawl, page_id).url

    def links(places: slice) -> list[dict[str, Any]]:
        return [link._asdict() for link in inlinks(crawl, url, places.stop)[places]]

    return by_position(request, links, cursor, limit)


@router.on(
    "GET /pages/{page_id}/ways",
    "See how a page was found",
    Scope.CRAWLS_READ,
    shapes.PagePaths,
    shapes.WAYS_EXAMPLE,
    name="get_ways",
)
def get_page_paths(request: ApiRequest, crawl_id: UUID, page_id: PageId) -> dict[str, Any]:
    """The path from a start URL, the redirects from the page, and those to it."""
    page = page_named(crawl_named(request, crawl_id), page_id)
    return {"path": path_to(page), "redirects": redirects_of(page)}


def _with_targets(crawl: Crawl, links: Sequence[link_codec.Link]) -> list[dict[str, Any]]:
    keys = {key_of(link.url) for link in links}
    found = Page.objects.filter(crawl=crawl, key__in=keys)
    of_url = {page.url: page for page in found.only("id", "url", "http_status", "outcome")}
    return [_with_target(link, of_url.get(link.url)) for link in links]


def _with_target(link: link_codec.Link, target: Page | None) -> dict[str, Any]:
    return {
        **link._asdict(),
        "page": target and target.pk,
        "http_status": target and target.http_status,
        "outcome": (target and target.outcome) or None,
    }


MAX_TRAPS = 200  # in one response; a crawl with more needs other rules

trap_router = Operations("traps", below=A_CRAWL)


@trap_router.on(
    "GET /traps", "List traps", Scope.CRAWLS_READ, trap_schemas.Traps, {"items": [trap_schemas.TRAP_EXAMPLE]}
)
def list_traps(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Endless series of pages in quarantine, those with the most pages first; 200 at most."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [trap_schemas.trap_of(caught) for caught in traps.traps_of(crawl, MAX_TRAPS)]}


@trap_router.on(
    "POST /traps/release",
    "Release traps",
    Scope.CRAWLS_WRITE,
    trap_schemas.TrapRelease,
    {
        "traps": 1,
        "pages": 200,
        "left_out": 0,
        "message": "Released: 1 trap with 200 pages; they will be requested now.",
    },
    sends={"traps": [3]},
)
def release_traps(request: ApiRequest, crawl_id: UUID, body: trap_schemas.Release | None = None) -> dict[str, Any]:
    """Fetch the pages of these traps, or of all."""
    done = release(crawl_named(request, crawl_id, Right.CONTROL).id, body.traps if body else None)
    message = traps.to_release(done.traps, done.pages, done.left_out).line
    return fields_of(trap_schemas.TrapRelease, done, message=message)
