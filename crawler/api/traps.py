"""The doors of a crawl's traps: which there are, and releasing them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Router

from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.shapes import trap as shapes
from crawler.core.rights import Right
from crawler.core.scopes import Scope
from crawler.engine.traps import release
from crawler.reports import traps

SHOWN = 200  # traps in one answer; a crawl with more has a site that wants other rules

router = Router(tags=["traps"])


@router.get(
    "/{uuid:crawl_id}/traps",
    operation_id="traps_list_traps",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Traps,
    summary="List traps",
    openapi_extra=described({"items": [shapes.EXAMPLE]}),
)
def list_traps(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Endless series of pages that were set aside, those with most pages first; 200 at most."""
    crawl = crawl_named(request, crawl_id)
    return {"items": [shapes.trap_of(caught) for caught in traps.traps_of(crawl, SHOWN)]}


@router.post(
    "/{uuid:crawl_id}/traps/release",
    operation_id="traps_release_traps",
    auth=needs(Scope.CRAWLS_WRITE),
    response=shapes.Released,
    summary="Release traps",
    openapi_extra=described(
        {"traps": 1, "pages": 200, "left_out": 0, "message": "Released: 1 trap with 200 pages, to be asked for now."},
        sends={"traps": [3]},
    ),
)
def release_traps(request: ApiRequest, crawl_id: UUID, body: shapes.Release | None = None) -> dict[str, Any]:
    """Ask for their pages after all: those of the traps named, or of all."""
    done = release(crawl_named(request, crawl_id, Right.CONTROL).id, body.traps if body else None)
    message = traps.to_release(done.traps, done.pages, done.left_out).line
    return {"traps": done.traps, "pages": done.pages, "left_out": done.left_out, "message": message}
