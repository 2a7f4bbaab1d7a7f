"""The doors of a crawl's notices: the log of deliveries, and sending one again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Router

from crawler.accounts import sees_addresses
from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_named
from crawler.api.paging import Cursor, Limit, newest_first
from crawler.api.problems import Problem
from crawler.api.shapes import notice as shapes
from crawler.core.rights import Right
from crawler.core.scopes import Scope
from crawler.engine.resend import SENT, resend
from crawler.models import Delivery

router = Router(tags=["notices"])


@router.get(
    "/{uuid:crawl_id}/notices",
    operation_id="notices_list_notices",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Deliveries,
    summary="List deliveries",
    openapi_extra=described({"items": [shapes.EXAMPLE], "next": None}),
)
def list_notices(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """Every notice to everybody, the newest first, with what came of it."""
    crawl = crawl_named(request, crawl_id)
    in_full = sees_addresses(request.user, crawl)
    deliveries = Delivery.objects.filter(notice__crawl=crawl).select_related("notice").defer("notice__receipt")
    return newest_first(request, deliveries, cursor, limit, lambda row: shapes.line_of(row, in_full=in_full))


@router.post(
    "/{uuid:crawl_id}/notices/{uuid:delivery_id}/again",
    operation_id="notices_send_again",
    auth=needs(Scope.CRAWLS_WRITE),
    response=shapes.SentAgain,
    summary="Send a notice again",
    openapi_extra=described({"message": SENT}),
)
def send_again(request: ApiRequest, crawl_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """To the same place once more. One that is still on its way is tried at once instead."""
    done = resend(crawl_named(request, crawl_id, Right.CONTROL), delivery_id)
    if done is None:
        raise Problem(404, f"This crawl has no delivery {delivery_id}.")
    return {"message": done}
