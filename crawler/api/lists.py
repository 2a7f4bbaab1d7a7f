"""The door that starts a crawl over an uploaded list of URLs, of any length."""

from __future__ import annotations

from typing import Annotated, Any, BinaryIO, cast

from django.http import HttpResponse
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile
from pydantic import ValidationError

from crawler import clock
from crawler.api.bodies import read_json
from crawler.api.callers import ApiRequest, needs
from crawler.api.described import FORM, described
from crawler.api.finding import crawl_made_before, group_named
from crawler.api.once import id_to_make
from crawler.api.problems import Problem, place, service_down
from crawler.api.shapes import crawl as shapes
from crawler.api.shapes.options import ListStart
from crawler.api.starting import sealed_for
from crawler.core.columns import Columns
from crawler.core.errors import BadInput, OverQuota
from crawler.core.lifecycle import State
from crawler.core.scopes import Scope
from crawler.engine.load import load_list
from crawler.engine.share import share_begun
from crawler.models import Crawl

PARTS = ("list", "list_column", "priority_column", "options")
EXAMPLE = {"list": "(the file)", "list_column": "url", "priority_column": "", "options": '{"delay": 1}'}

router = Router(tags=["crawls"])


@router.post(
    "/list",
    operation_id="lists_create_crawl_over_list",
    auth=needs(Scope.CRAWLS_WRITE),
    response={201: shapes.CrawlWhole},
    summary="Start a crawl over a list",
    openapi_extra=described(shapes.EXAMPLE, status=201, sends=EXAMPLE, sends_as=FORM),
)
def create_crawl_over_list(
    request: ApiRequest,
    response: HttpResponse,
    upload: Annotated[
        UploadedFile, File(alias="list", description="Text with one URL a line, or CSV; packed by gzip or not.")
    ],
    list_column: Annotated[
        str, Form(max_length=1000, description="Of a CSV list: the column of URLs, or its number.")
    ] = "",
    priority_column: Annotated[str, Form(max_length=1000, description="The column of priorities, 0 to 10.")] = "",
    options: Annotated[str, Form(description="What `POST /crawls` takes beside `start_urls`, as JSON.")] = "{}",
) -> Status[dict[str, Any]]:
    """As a form with a file. Each URL is asked for, and nothing they lead to. It is answered when the whole list is
    read; lines that cannot be used are counted in `receipt.list` and shown in `list_report`."""
    start = _options(options)
    group = group_named(request.user, start.group)
    crawl = _made_before(request) or _loaded(request, start, upload, Columns(list_column, priority_column))
    share_begun(crawl, request.user, group, group_controls=start.group_controls)
    response["Location"] = shapes.address_of(request, crawl)
    return Status(201, shapes.whole_of(crawl, clock.epoch_seconds(), in_full=True))


def _options(text: str) -> ListStart:
    try:
        return ListStart.model_validate(read_json(text.encode() or b"{}"))
    except Problem as trouble:
        raise BadInput("options", trouble.detail) from None
    except ValidationError as error:
        places = [place(["body", "options", *said["loc"]], said["msg"]) for said in error.errors()]
        raise Problem(422, "Something in `options` cannot be used; `errors` says what.", errors=places) from None


def _loaded(request: ApiRequest, start: ListStart, upload: UploadedFile, columns: Columns) -> Crawl:
    """BadInput names the part of the form, or the option below `options`."""
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
        raise BadInput(error.field if error.field in PARTS else f"options.{error.field}", error.message) from None


def _made_before(request: ApiRequest) -> Crawl | None:
    """The same as for other crawls. While somebody still reads its list, nobody can tell what will become of it."""
    crawl = crawl_made_before(request)
    if crawl is not None and crawl.state == State.LOADING:
        raise service_down("The list is still being read by an earlier try of this call; ask again in a moment.")
    return crawl
