"""The door to the figures of a crawl: how fast it went, what came of its pages, how deep they lie, on which hosts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Router

from crawler import clock
from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.shapes import figures as shapes
from crawler.core.scopes import Scope
from crawler.reports.breakdown import breakdown

router = Router(tags=["crawls"])


@router.get(
    "/{uuid:crawl_id}/figures",
    operation_id="figures_get_figures",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Figures,
    summary="Get the figures",
    openapi_extra=described(shapes.EXAMPLE),
)
def get_figures(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """While a crawl runs, depths and hosts are counted now and then; `counted_at` says when."""
    crawl = crawl_named(request, crawl_id)
    return shapes.figures_of(crawl, breakdown(crawl, clock.epoch_seconds()))
