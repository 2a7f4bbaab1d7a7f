"""The door to a crawl as a graph of pages and links."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from ninja import Query, Router

from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.shapes import graph as shapes
from crawler.core.scopes import Scope
from crawler.reports.graph import graph_of

router = Router(tags=["crawls"])


@router.get(
    "/{uuid:crawl_id}/graph",
    operation_id="graph_get_graph",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.SiteGraph,
    summary="Get the site graph",
    openapi_extra=described(shapes.EXAMPLE),
)
def get_graph(
    request: ApiRequest,
    crawl_id: UUID,
    within: Annotated[str, Query(max_length=4096, description="Only pages whose URLs begin so.")] = "",
) -> dict[str, Any]:
    """Small enough to be drawn: of more than 2,000 pages the nodes are folders, and `within` opens one. All links of a
    crawl are in the exports `links.csv` and `graphml`."""
    return shapes.graph_shown(graph_of(crawl_named(request, crawl_id), within))
