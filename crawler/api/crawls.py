"""The doors of crawls: list, start, look, delete."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpResponse
from ninja import Query, Router, Status

from crawler import clock
from crawler.accounts import sees_addresses, visible_crawls
from crawler.api.callers import ApiRequest, needs
from crawler.api.described import described
from crawler.api.finding import crawl_made_before, crawl_named, crawl_watched, group_named
from crawler.api.once import id_to_make
from crawler.api.paging import Cursor, Limit, newest_first
from crawler.api.shapes import crawl as shapes
from crawler.api.shapes.options import CrawlStart
from crawler.api.starting import sealed_for
from crawler.core.lifecycle import State
from crawler.core.rights import Right
from crawler.core.scopes import Scope
from crawler.engine.delete import delete
from crawler.engine.schedules import begin_schedule
from crawler.engine.share import share_begun
from crawler.engine.start import start_crawl
from crawler.models import Crawl
from crawler.reports.receipt import masked_receipt, receipt_of
from crawler.reports.why import why_of

router = Router(tags=["crawls"])


@router.get(
    "",
    operation_id="crawls_list_crawls",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.CrawlPage,
    summary="List crawls",
    openapi_extra=described({"items": [shapes.LINE_EXAMPLE], "next": None}),
)
def list_crawls(
    request: ApiRequest,
    state: Annotated[list[State], Query(description="Only crawls in one of these states.")] = [],  # noqa: B006
    q: Annotated[str, Query(max_length=200, description="Only crawls with this text in a start URL or list.")] = "",
    owner: Annotated[str, Query(max_length=150, description="Only those of this person.")] = "",
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """The crawls you may see, the newest first."""
    crawls = visible_crawls(request.user)
    if state:
        crawls = crawls.filter(state__in=state)
    if q:
        crawls = crawls.filter(Q(start_urls__icontains=q) | Q(source__icontains=q))
    if owner:
        crawls = crawls.filter(owner__username=owner)
    return newest_first(request, crawls, cursor, limit, shapes.line_of)


@router.post(
    "",
    operation_id="crawls_create_crawl",
    auth=needs(Scope.CRAWLS_WRITE),
    response={201: shapes.CrawlWhole},
    summary="Start a crawl",
    openapi_extra=described(shapes.EXAMPLE, status=201, sends=shapes.START_EXAMPLE),
)
def create_crawl(request: ApiRequest, body: CrawlStart, response: HttpResponse) -> Status[dict[str, Any]]:
    """It runs when this is answered; `Location` says where to look. Options that are left out are as on the web page.

    With an `Idempotency-Key` it may be sent again, for instance after a time-out: there is one crawl, and the same
    answer for 24 hours.
    """
    group = group_named(request.user, body.group)
    crawl = crawl_made_before(request) or _started(request, body)
    share_begun(crawl, request.user, group, group_controls=body.group_controls)
    response["Location"] = shapes.address_of(request, crawl)
    return Status(201, shapes.whole_of(crawl, clock.epoch_seconds(), in_full=True))


@router.get(
    "/{uuid:crawl_id}",
    operation_id="crawls_get_crawl",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.CrawlWhole,
    summary="Look at a crawl",
    openapi_extra=described(shapes.EXAMPLE),
)
def get_crawl(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Its state, how far it is, its options and its receipt so far."""
    crawl = crawl_watched(request, crawl_id)
    return shapes.whole_of(crawl, clock.epoch_seconds(), in_full=sees_addresses(request.user, crawl))


@router.get(
    "/{uuid:crawl_id}/receipt",
    operation_id="crawls_get_receipt",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Receipt,
    summary="Get the receipt",
    openapi_extra=described(shapes.RECEIPT_EXAMPLE),
)
def get_receipt(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """discovered = fetched + failed + skipped + cancelled, as soon as the crawl is over; before, what is open is
    missing on the right side."""
    crawl = crawl_named(request, crawl_id)
    receipt = receipt_of(crawl)
    return receipt if sees_addresses(request.user, crawl) else masked_receipt(receipt)


@router.get(
    "/{uuid:crawl_id}/why",
    operation_id="crawls_get_why",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Why,
    summary="Ask why it is not finished",
    openapi_extra=described(shapes.WHY_EXAMPLE),
)
def get_why(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """In sentences first, then with what is open, who has it, and when each host may be asked next."""
    return why_of(crawl_watched(request, crawl_id), visible=visible_crawls(request.user))


@router.delete(
    "/{uuid:crawl_id}",
    operation_id="crawls_delete_crawl",
    auth=needs(Scope.CRAWLS_DELETE),
    response={204: None},
    summary="Delete a crawl",
    openapi_extra=described(status=204),
)
def delete_crawl(request: ApiRequest, crawl_id: UUID) -> Status[None]:
    """With all its pages. One that runs is cancelled first."""
    delete(crawl_named(request, crawl_id, Right.OWN).id)
    return Status(204, None)


def _started(request: ApiRequest, body: CrawlStart) -> Crawl:
    """The crawl that was asked for, or the first of those that are to be begun again and again."""
    options, allow_private = body.options(), body.private_allowed(request.user)
    sealed = sealed_for(request, body, options, body.start_urls)
    owner, crawl_id = request.user, id_to_make(request)
    if body.schedule:
        return begin_schedule(
            body.start_urls,
            options,
            body.schedule,
            owner=owner,
            allow_private=allow_private,
            sealed=sealed,
            crawl_id=crawl_id,
        )
    return start_crawl(
        body.start_urls, options, owner=owner, allow_private=allow_private, sealed=sealed, crawl_id=crawl_id
    )
