"""Operations on crawls: list, start (from URLs or a list), get, change, receipt, diagnosis, delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, BinaryIO, cast
from uuid import UUID

from django.http import HttpResponse
from ninja import File, Form, Query, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field, ValidationError

from crawler import clock
from crawler.accounts.permissions import namer, sees_addresses, visible_crawls
from crawler.api.callers import ApiRequest
from crawler.api.idempotency import id_to_make
from crawler.api.lookups import crawl_made_before, crawl_named, crawl_watched, group_named
from crawler.api.openapi import FORM, Operations
from crawler.api.paging import Cursor, Limit, newest_first
from crawler.api.problems import Problem, place, read_json, service_down
from crawler.api.schemas import crawl as shapes
from crawler.api.schemas.start import Base, CrawlChange, CrawlStart, ListStart
from crawler.core.access.credentials import CHANGEABLE
from crawler.core.access.permissions import Right, Scope
from crawler.core.errors import BadInput, OverQuota
from crawler.core.options.catalogue import CrawlOptions, check_options
from crawler.core.options.receivers import RECEIVERS
from crawler.core.protocol.completion import State
from crawler.core.url_lists.reader import ColumnChoice
from crawler.core.urls.normalise import parse_user_url
from crawler.crawls.change import change
from crawler.crawls.control import share_begun
from crawler.crawls.credentials import own_hosts, taken_over
from crawler.crawls.delete import delete
from crawler.crawls.import_urls import load_list
from crawler.crawls.start import start_crawl
from crawler.models import Crawl
from crawler.reports import adding
from crawler.reports.crawl_search import CrawlSearch
from crawler.reports.diagnosis import why_of
from crawler.reports.receipt import masked_receipt, receipt_of

BOTH = "Send either an earlier crawl to copy credentials from, or credentials, not both."
NOT_YOURS = "You have no crawl with this id and credentials; send the credentials."


def sealed_for(
    request: ApiRequest, body: Base, options: CrawlOptions, start_urls: Sequence[str], *, listed: bool = False
) -> str:
    """The encrypted credentials for a new crawl. Those of an earlier crawl can be used by its owner only, and for its
    hosts only; BadInput otherwise."""
    given = body.sealed()
    if body.same_credentials is None:
        return given
    if given:
        raise BadInput("same_credentials", BOTH)
    earlier = visible_crawls(request.user).filter(pk=body.same_credentials).first()
    if earlier is None or not earlier.sealed or not sees_addresses(request.user, earlier):
        raise BadInput("same_credentials", NOT_YOURS)
    checked, urls = check_options(options), [parse_user_url(url) for url in start_urls]
    return taken_over(earlier, own_hosts(urls, checked, listed=listed))


class ChangedCrawl(Schema):
    """The options that have another value now; receivers and log-in fields as their number."""

    before: dict[str, Any]
    after: dict[str, Any]
    message: str = Field(description="The same in words.")


router = Operations("crawls")


@router.on(
    "GET", "List crawls", Scope.CRAWLS_READ, shapes.CrawlPage, {"items": [shapes.CRAWL_LINE_EXAMPLE], "next": None}
)
def list_crawls(
    request: ApiRequest,
    state: Annotated[list[State], Query(description="Only crawls in one of these states.")] = [],  # noqa: B006
    q: Annotated[str, Query(max_length=200, description="Only crawls with this text in a start URL or list.")] = "",
    owner: Annotated[str, Query(max_length=150, description="Only crawls of this user.")] = "",
    cursor: Cursor = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """The crawls you may see, the newest first."""
    crawls = CrawlSearch(state, q.strip(), owner).among(visible_crawls(request.user))
    return newest_first(request, crawls, cursor, limit, shapes.line_of)


@router.on(
    "POST",
    "Start a crawl",
    Scope.CRAWLS_WRITE,
    shapes.CrawlDetail,
    shapes.CRAWL_EXAMPLE,
    sends=shapes.START_EXAMPLE,
    status=201,
)
def create_crawl(request: ApiRequest, body: CrawlStart, response: HttpResponse) -> Status[dict[str, Any]]:
    """The crawl runs when this returns; `Location` is its address. Options have the same defaults as on the web page.

    With an `Idempotency-Key` it can be sent again, for instance after a timeout: there is one crawl, and the same
    response for 24 hours.
    """
    group = group_named(request.user, body.group)
    crawl = crawl_made_before(request) or _started(request, body)
    share_begun(crawl, request.user, group, group_controls=body.group_controls)
    response["Location"] = shapes.address_of(request, crawl)
    return Status(201, shapes.whole_of(crawl, clock.epoch_seconds(), in_full=True))


@router.on("GET /{uuid:crawl_id}", "Get a crawl", Scope.CRAWLS_READ, shapes.CrawlDetail, shapes.CRAWL_EXAMPLE)
def get_crawl(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Its state, progress, options and receipt so far."""
    crawl = crawl_watched(request, crawl_id)
    return shapes.whole_of(crawl, clock.epoch_seconds(), in_full=sees_addresses(request.user, crawl))


@router.on("GET /{uuid:crawl_id}/receipt", "Get the receipt", Scope.CRAWLS_READ, shapes.Receipt, shapes.RECEIPT_EXAMPLE)
def get_receipt(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """discovered = fetched + failed + skipped + cancelled, once the crawl is over; before that, open pages are missing
    on the right side."""
    crawl = crawl_named(request, crawl_id)
    receipt = receipt_of(crawl)
    return receipt if sees_addresses(request.user, crawl) else masked_receipt(receipt)


@router.on(
    "GET /{uuid:crawl_id}/why", "Explain why it is not finished", Scope.CRAWLS_READ, shapes.Why, shapes.WHY_EXAMPLE
)
def get_why(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """The reasons in sentences, then open pages, the batches they are in, and when each host may be requested next."""
    return why_of(crawl_watched(request, crawl_id), visible=visible_crawls(request.user))


@router.on(
    "PATCH /{uuid:crawl_id}",
    "Change a crawl",
    Scope.CRAWLS_WRITE,
    ChangedCrawl,
    {"before": {"delay": 0.0}, "after": {"delay": 2.0}, "message": "Changed: Delay from 0 to 2."},
    sends={"delay": 2},
)
def change_crawl(request: ApiRequest, crawl_id: UUID, body: CrawlChange) -> dict[str, Any]:
    """Its limits, pace, patterns, notices and the fields of its log-in, while it runs or later. Other values stay
    unchanged; null is the default. All or nothing. Only its owner changes who gets notices, and fields of the log-in.
    """
    values = body.model_dump(exclude_unset=True)
    of_owner = {*CHANGEABLE, "notify_events", *RECEIVERS.values()} & values.keys()
    crawl = crawl_named(request, crawl_id, Right.CONTROL)
    if of_owner and not sees_addresses(request.user, crawl):
        raise Problem(403, "Only the crawl's owner can change who gets its notices, and its credentials.")
    done = change(crawl.id, values, by=namer(request.user, crawl))
    message = adding.to_change(done.before, done.after).line
    return {"before": done.before, "after": done.after, "message": message}


@router.on("DELETE /{uuid:crawl_id}", "Delete a crawl", Scope.CRAWLS_DELETE, status=204)
def delete_crawl(request: ApiRequest, crawl_id: UUID) -> Status[None]:
    """With all its pages. A running crawl is cancelled first."""
    delete(crawl_named(request, crawl_id, Right.OWN).id)
    return Status(204, None)


def _started(request: ApiRequest, body: CrawlStart) -> Crawl:
    """The new crawl, or the first run of a new schedule."""
    options, allow_private = body.options(), body.private_allowed(request.user)
    sealed = sealed_for(request, body, options, body.start_urls)
    return start_crawl(
        body.start_urls,
        options,
        body.schedule or "",
        owner=request.user,
        allow_private=allow_private,
        sealed=sealed,
        crawl_id=id_to_make(request),
    )


PARTS = ("list", "list_column", "priority_column", "options")
EXAMPLE = {"list": "(the file)", "list_column": "url", "priority_column": "", "options": '{"delay": 1}'}

list_router = Operations("lists", tag="crawls")


@list_router.on(
    "POST /list",
    "Start a crawl of a list",
    Scope.CRAWLS_WRITE,
    shapes.CrawlDetail,
    shapes.CRAWL_EXAMPLE,
    sends=EXAMPLE,
    sends_as=FORM,
    status=201,
)
def create_crawl_over_list(
    request: ApiRequest,
    response: HttpResponse,
    upload: Annotated[
        UploadedFile, File(alias="list", description="Text with one URL per line, CSV or JSONL, gzipped or not.")
    ],
    list_column: Annotated[
        str, Form(max_length=1000, description="Of a CSV list: the column of URLs, or its number.")
    ] = "",
    priority_column: Annotated[str, Form(max_length=1000, description="The column of priorities, 0 to 10.")] = "",
    options: Annotated[str, Form(description="The fields of `POST /crawls` without `start_urls`, as JSON.")] = "{}",
) -> Status[dict[str, Any]]:
    """A form with a file. Each URL is requested; links are not followed. The response comes when the whole list is
    read; invalid lines are counted in `receipt.list` and shown in `list_report`."""
    start = _options(options)
    group = group_named(request.user, start.group)
    crawl = _made_before(request) or _loaded(request, start, upload, ColumnChoice(list_column, priority_column))
    share_begun(crawl, request.user, group, group_controls=start.group_controls)
    response["Location"] = shapes.address_of(request, crawl)
    return Status(201, shapes.whole_of(crawl, clock.epoch_seconds(), in_full=True))


def _options(text: str) -> ListStart:
    try:
        return ListStart.model_validate(read_json(text.encode() or b"{}"))
    except Problem as trouble:
        raise BadInput("options", trouble.detail) from None
    except ValidationError as error:
        places = [place(["body", "options", *found["loc"]], found["msg"]) for found in error.errors()]
        raise Problem(422, "`options` contains invalid values; see `errors`.", errors=places) from None


def _loaded(request: ApiRequest, start: ListStart, upload: UploadedFile, columns: ColumnChoice) -> Crawl:
    """BadInput names the field of the form, or the option below `options`."""
    try:
        options = start.options()
        return load_list(
            cast(BinaryIO, upload),
            upload.name or "list",
            options,
            columns=columns,
            owner=request.user,
            allow_private=start.private_allowed(request.user),
            sealed=sealed_for(request, start, options, [], listed=True),
            crawl_id=id_to_make(request),
        )
    except OverQuota:
        raise
    except BadInput as error:
        raise BadInput(error.field if error.field in PARTS else f"options.{error.field}", error.raw) from None


def _made_before(request: ApiRequest) -> Crawl | None:
    """As for other crawls; 503 while the earlier attempt still reads its list."""
    crawl = crawl_made_before(request)
    if crawl is not None and crawl.state == State.LOADING:
        raise service_down("An earlier attempt of this call is still reading the list; repeat it in a moment.")
    return crawl
