"""Operations that use a crawl as a queue: add pages, request pages again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from ninja import Query, Schema
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from crawler import clock
from crawler.accounts.permissions import namer
from crawler.api.callers import ApiRequest
from crawler.api.lookups import crawl_named
from crawler.api.openapi import A_CRAWL, Operations
from crawler.api.paging import RowId
from crawler.api.schemas.fields import fields_of
from crawler.api.schemas.page import PageFilters
from crawler.core.access.permissions import Right, Scope
from crawler.core.errors import BadInput
from crawler.core.pages.placement import MAX_URLS, Placement, placed
from crawler.core.url_lists.wanted import PageRequest, of_item
from crawler.manager.add import add, ask_again
from crawler.models import Crawl
from crawler.reports import adding

router = Operations("queue", tag="crawls", below=A_CRAWL)


class QueuePlacement(Schema):
    """Where pages stand in the queue."""

    model_config = ConfigDict(extra="forbid")

    priority: int | None = Field(None, description="10 = first, 0 = last; the default for new pages is 5.")
    delay: float | None = Field(None, description="Seconds before they are requested.")
    not_before: AwareDatetime | None = Field(None, description="The same as a time; not together with `delay`.")
    ttl: float | None = Field(None, description="Seconds after that time, after which they are skipped.")

    def place(self) -> Placement:
        """BadInput if it cannot be used."""
        at = None if self.not_before is None else self.not_before.timestamp()
        return placed(self.priority, self.delay, at, self.ttl, clock.epoch_seconds())


class PageToAdd(BaseModel):  # Schema would leave out the other names
    """A page with values of its own, by the rules of a line in a list; other names are carried to the results of a new
    page as its `meta`: text, numbers, true and false."""

    model_config = ConfigDict(extra="allow")

    url: str = Field(description="As a user types it.")
    priority: int | float | str | None = Field(None, description="10 = first, 0 = last; or 0.0 to 1.0.")
    ttl: float | str | None = Field(None, description="Seconds, or with units such as `30m`.")
    not_before: float | str | None = Field(None, description="ISO 8601, or seconds since 1970. Past times are ignored.")


def _as_object(item: Any) -> Any:
    return {"url": item} if isinstance(item, str) else item


UrlOrPage = Annotated[PageToAdd, BeforeValidator(_as_object, json_schema_input_type=str | PageToAdd)]


class PagesToAdd(QueuePlacement):
    """Pages to add to a crawl. A page's own values take the place of the values for all pages."""

    urls: list[UrlOrPage] = Field(
        min_length=1, max_length=MAX_URLS, description="Their URLs, as users type them, or objects."
    )
    again: bool = Field(False, description="Request closed pages again, too.")

    def pages(self) -> list[PageRequest]:
        """Raises BadInput if the values for all pages cannot be used."""
        place, now = self.place(), clock.epoch_seconds()
        return [of_item(page.model_dump(exclude_none=True), place, now) for page in self.urls]


class RefusedUrl(Schema):
    url: str = Field(description="As it was sent.")
    why: str


class AddedPages(Schema):
    """What happened to the URLs; each is counted once."""

    added: int = Field(description="New pages.")
    moved: int = Field(description="Open pages that got the new time or priority.")
    waiting: int = Field(description="Open pages that are unchanged: neither was sent.")
    again: int = Field(description="Closed pages that were reopened.")
    closed: int = Field(description="Closed pages that stay closed.")
    refused: int = Field(description="URLs that are invalid, outside the crawl's scope, or at a forbidden address.")
    reasons: list[RefusedUrl] = Field(description="The first ten of them.")
    reopened: bool = Field(description="The crawl had finished, and runs again.")
    message: str = Field(description="The same in words.")


class PagesAgain(QueuePlacement):
    """Pages to request again: those named, or without `pages` those that pass the filters in the query."""

    pages: list[RowId] | None = Field(None, max_length=MAX_URLS, description="Their ids.")
    all: bool = Field(False, description="All pages counted in the receipt, instead of a filter.")


class AskedPages(Schema):
    again: int = Field(description="Closed pages that were reopened.")
    left: int = Field(description="Pages that are open, in a trap, or only recorded: they are unchanged.")
    reopened: bool = Field(description="The crawl had finished, and runs again.")
    message: str = Field(description="The same in words.")


ADDED_EXAMPLE = {
    "added": 1,
    "moved": 0,
    "waiting": 0,
    "again": 0,
    "closed": 0,
    "refused": 1,
    "reasons": [{"url": "https://example.net/", "why": "It is outside the crawl's scope."}],
    "reopened": True,
    "message": "1 page added; 1 page refused. The crawl was over and runs again.",
}


@router.on(
    "POST /urls",
    "Add pages",
    Scope.CRAWLS_WRITE,
    AddedPages,
    ADDED_EXAMPLE,
    sends={
        "urls": [{"url": "https://example.com/new", "priority": 9, "customer": "4711"}, "https://example.net/"],
        "delay": 60,
    },
)
def add_pages(request: ApiRequest, crawl_id: UUID, body: PagesToAdd) -> dict[str, Any]:
    """All in one transaction. A page that is open already gets the time and priority that are sent. A crawl that was
    over runs again."""
    crawl = crawl_named(request, crawl_id, Right.CONTROL)
    done = add(crawl.id, body.pages(), by=namer(request.user, crawl), again=body.again)
    reasons = [fields_of(RefusedUrl, refused) for refused in done.reasons]
    return fields_of(AddedPages, done, reasons=reasons, reopened=done.has_reopened, message=adding.to_add(done).line)


@router.on(
    "POST /again",
    "Request pages again",
    Scope.CRAWLS_WRITE,
    AskedPages,
    {
        "again": 2,
        "left": 0,
        "reopened": True,
        "message": "2 pages will be requested again. The crawl had ended and runs again.",
    },
    sends={"pages": [4711, 4712]},
    name="ask_again",
)
def again(
    request: ApiRequest, crawl_id: UUID, body: PagesAgain, chosen: Annotated[PageFilters, Query()]
) -> dict[str, Any]:
    """As if they had never been requested: the pages in `pages`, or all that match the filters in the query, as for
    the list of pages. A finished crawl runs again."""
    crawl = crawl_named(request, crawl_id, Right.CONTROL)
    done = ask_again(crawl.id, _selected(crawl, body, chosen), body.place())
    return fields_of(AskedPages, done, reopened=done.has_reopened, message=adding.to_ask_again(done).line)


def _selected(crawl: Crawl, body: PagesAgain, chosen: PageFilters) -> Iterable[int]:
    ways = [body.pages is not None, bool(chosen.model_dump(exclude_defaults=True)), body.all]
    if ways.count(True) != 1:
        raise BadInput("pages", "Send one of: `pages`, filters in the query, or `all`.")
    return body.pages if body.pages is not None else chosen.pages(crawl).values_list("id", flat=True)
