"""The doors of a crawl's pages: the list with its filters, dead letters, orphans, and one page with its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Path, Query, Router

from crawler import table
from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named, page_named
from crawler.api.paging import MOST, by_id, by_place
from crawler.api.shapes import page as shapes
from crawler.api.shapes.crawl import ROOT
from crawler.core import linkage
from crawler.core.cursors import LARGEST
from crawler.core.outcomes import Outcome
from crawler.core.scopes import Scope
from crawler.core.urls import from_person, key_of
from crawler.models import Crawl, Page, PageLinks
from crawler.reports.dead_letters import dead_letters
from crawler.reports.inlinks import inlinks
from crawler.reports.orphans import orphans

OPEN = "open"
PAGES_EXAMPLE = {"items": [shapes.EXAMPLE], "next": f"{ROOT}/.../pages?cursor=NDcxMQ"}

Cursor = Annotated[str | None, Query(max_length=200, description="From `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="Items on a page.")]
PageId = Annotated[int, Path(ge=0, le=LARGEST)]
Kind = Literal["page", "sitemap", "external"]

router = Router(tags=["pages"])


@router.get(
    "/{uuid:crawl_id}/pages",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.PageList,
    summary="List pages",
    openapi_extra=described(PAGES_EXAMPLE),
)
def list_pages(
    request: ApiRequest,
    crawl_id: UUID,
    outcome: Annotated[list[Outcome | Literal["open"]], Query(description="Only pages that closed so.")] = [],  # noqa: B006
    http_status: Annotated[int | None, Query(ge=100, le=999)] = None,
    kind: Annotated[
        Kind | None, Query(description="Without it, links that leave the site and were not asked for are left out.")
    ] = None,
    q: Annotated[str, Query(max_length=500, description="Only pages with this text in their URL.")] = "",
    url: Annotated[str, Query(max_length=5000, description="Only the page with this URL.")] = "",
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """In the order of their discovery. Rows are those of an export."""
    crawl = crawl_named(request, crawl_id)
    pages = Page.objects.filter(crawl=crawl, key=key_of(from_person(url))) if url else table.in_order(crawl.id)
    pages = pages.filter(kind=kind) if kind else pages.exclude(outcome=Outcome.EXTERNAL)
    if outcome:
        pages = pages.filter(outcome__in=["" if chosen == OPEN else chosen for chosen in outcome])
    if http_status is not None:
        pages = pages.filter(http_status=http_status)
    if q:
        pages = pages.filter(url__icontains=q)
    return by_id(request, pages, cursor, limit, shapes.lines_of)


@router.get(
    "/{uuid:crawl_id}/dead-letters",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.PageList,
    summary="List dead letters",
    openapi_extra=described({"items": [{**shapes.EXAMPLE, "outcome": "timeout", "given_up": True}], "next": None}),
)
def list_dead_letters(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """Pages that were given up although another try might do better; `retry-failed` sends them again."""
    return by_id(request, dead_letters(crawl_named(request, crawl_id)), cursor, limit, shapes.lines_of)


@router.get(
    "/{uuid:crawl_id}/orphans",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.PageList,
    summary="List orphans",
    openapi_extra=described({"items": [{**shapes.EXAMPLE, "in_sitemap": True, "linked": False}], "next": None}),
)
def list_orphans(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """Pages that a sitemap names and no other page links to."""
    return by_id(request, orphans(crawl_named(request, crawl_id)), cursor, limit, shapes.lines_of)


@router.get(
    "/{uuid:crawl_id}/pages/{page_id}",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.PageWhole,
    summary="Look at a page",
    openapi_extra=described(shapes.WHOLE_EXAMPLE),
)
def get_page(request: ApiRequest, crawl_id: UUID, page_id: PageId) -> dict[str, Any]:
    """With what its server and the page said."""
    page = page_named(crawl_named(request, crawl_id), page_id)
    return shapes.whole_of(page, f"{ROOT}/{crawl_id}/pages/{page.pk}")


@router.get(
    "/{uuid:crawl_id}/pages/{page_id}/links-out",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.LinksOut,
    summary="List a page's links",
    openapi_extra=described(
        {
            "items": [
                {
                    "url": "https://example.com/a",
                    "text": "A",
                    "rel": "",
                    "page": 4712,
                    "http_status": 404,
                    "outcome": "4xx",
                }
            ],
            "next": None,
        }
    ),
)
def list_links_out(
    request: ApiRequest, crawl_id: UUID, page_id: PageId, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """In the order they stand on the page, each with what became of its target."""
    crawl = crawl_named(request, crawl_id)
    page = page_named(crawl, page_id)
    row = PageLinks.objects.filter(page_id=page.pk).first()
    links = linkage.unpacked(bytes(row.packed), page.url) if row else []
    listed = by_place(request, lambda count: links[:count], cursor, limit)
    return {**listed, "items": _with_targets(crawl, listed["items"])}


@router.get(
    "/{uuid:crawl_id}/pages/{page_id}/links-in",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.LinksIn,
    summary="List links to a page",
    openapi_extra=described({"items": [{"page": "https://example.com/", "text": "A", "rel": ""}], "next": None}),
)
def list_links_in(
    request: ApiRequest, crawl_id: UUID, page_id: PageId, cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """From the pages of this crawl, in the order of their discovery."""
    crawl = crawl_named(request, crawl_id)
    url = page_named(crawl, page_id).url
    return by_place(request, lambda count: [link._asdict() for link in inlinks(crawl, url, count)], cursor, limit)


def _with_targets(crawl: Crawl, links: Sequence[linkage.Link]) -> list[dict[str, Any]]:
    keys = {key_of(link.url) for link in links}
    found = Page.objects.filter(crawl=crawl, key__in=keys)
    of_url = {page.url: page for page in found.only("id", "url", "http_status", "outcome")}
    return [_with_target(link, of_url.get(link.url)) for link in links]


def _with_target(link: linkage.Link, target: Page | None) -> dict[str, Any]:
    return {
        **link._asdict(),
        "page": target and target.pk,
        "http_status": target and target.http_status,
        "outcome": (target and target.outcome) or None,
    }
