"""Operations on the dead letters of all crawls: list them, count them, retry them."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from ninja import Query, Schema
from pydantic import AwareDatetime, ConfigDict, Field

from crawler import clock
from crawler.accounts.permissions import controlled_crawls, visible_crawls
from crawler.api.callers import ApiRequest
from crawler.api.openapi import Operations
from crawler.api.paging import Cursor, Limit, RowId, address_with
from crawler.api.schemas import page as shapes
from crawler.core.access.permissions import Scope
from crawler.core.errors import BadInput
from crawler.core.pages.placement import MAX_URLS
from crawler.crawls.retry import retry_chosen
from crawler.models import Crawl, Page
from crawler.reports import dead_letters, text
from crawler.storage.bulk import is_among

router = Operations("dead_letters", tag="pages")

CRAWL = "5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5"
EXAMPLE = {
    **shapes.EXAMPLE,
    "outcome": "timeout",
    "given_up": True,
    "crawl": CRAWL,
    "site": "example.com",
    "given_up_at": "2026-11-21T10:00:02Z",
}


class LetterFilters(Schema):
    """Filters, all of which a dead letter must pass."""

    model_config = ConfigDict(extra="forbid")

    outcome: str = Field("", max_length=20, description="Only pages with this outcome, such as `timeout`.")
    host: str = Field("", max_length=300, description="Only pages of this host, with its port if any.")
    crawl: UUID | None = Field(None, description="Only pages of this crawl.")
    since: AwareDatetime | None = Field(None, description="Only pages that became dead letters since then.")

    def of(self, crawls: QuerySet[Crawl]) -> QuerySet[Page]:
        """The dead letters of these crawls that pass. BadInput if a filter cannot be used."""
        since = None if self.since is None else self.since.timestamp()
        chosen = dead_letters.checked(self.outcome, self.host, self.crawl, since)
        return dead_letters.letters_of(crawls, chosen)


class LettersToRetry(LetterFilters):
    """Which dead letters to retry: those named, those that pass the filters, or all."""

    pages: list[RowId] | None = Field(None, max_length=MAX_URLS, description="Their ids; not together with filters.")
    all: bool = Field(False, description="All of them, instead of a filter.")


class LetterCounts(Schema):
    total: int
    outcomes: dict[str, int] = Field(description="Outcome -> dead letters, the most first.")


class RetriedLetters(Schema):
    sent: int
    crawls: int = Field(description="The number of their crawls; finished crawls run again.")
    more: bool = Field(description="More are left to retry: repeat the call.")
    message: str = Field(description="The same in words.")


@router.on(
    "GET",
    "List the dead letters of all crawls",
    Scope.CRAWLS_READ,
    shapes.DeadLetterPage,
    {"items": [EXAMPLE], "next": None},
    name="list",
)
def list_letters(
    request: ApiRequest, chosen: Annotated[LetterFilters, Query()], cursor: Cursor = None, limit: Limit = 100
) -> dict[str, Any]:
    """Of all crawls that you may see, the newest first."""
    found = dead_letters.ids_from(chosen.of(visible_crawls(request.user)), cursor, limit + 1)
    following = None
    if len(found) > limit:
        following = address_with(request, cursor=dead_letters.cursor_behind(*found[limit - 1]))
    return {"items": shapes.letters_of(dead_letters.read(found[:limit])), "next": following}


@router.on(
    "GET /counts",
    "Count the dead letters of all crawls",
    Scope.CRAWLS_READ,
    LetterCounts,
    {"total": 15, "outcomes": {"timeout": 12, "5xx": 3}},
    name="count",
)
def count_letters(request: ApiRequest, chosen: Annotated[LetterFilters, Query()]) -> dict[str, Any]:
    """By their outcome, with the filters of the list."""
    outcomes = dead_letters.counts(chosen.of(visible_crawls(request.user)))
    return {"total": sum(outcomes.values()), "outcomes": outcomes}


@router.on(
    "POST /retry",
    "Retry dead letters of all crawls",
    Scope.CRAWLS_WRITE,
    RetriedLetters,
    {"sent": 15, "crawls": 2, "more": False, "message": "15 pages of 2 crawls queued for retry."},
    sends={"outcome": "timeout", "since": "2026-11-21T00:00:00Z"},
    name="retry",
)
def retry_letters(request: ApiRequest, body: LettersToRetry) -> dict[str, Any]:
    """Of the crawls that you control. A finished crawl runs again. Up to 20,000 pages of 100 crawls in a call;
    `more` shows that others are left. Pages that are no longer dead letters are skipped, so a call can be repeated."""
    filters = body.model_dump(exclude_defaults=True, exclude={"pages", "all"})
    if [body.pages is not None, bool(filters), body.all].count(True) != 1:
        raise BadInput("pages", "Send the pages, filters, or `all` for all dead letters.")
    letters = body.of(controlled_crawls(request.user))
    if body.pages is not None:
        letters = letters.filter(is_among("crawler_page.id", body.pages))
    done = retry_chosen(letters, clock.epoch_seconds())
    message = text.to_retry_chosen(done.pages, done.crawls, has_more=done.has_more).line
    return {"sent": done.pages, "crawls": done.crawls, "more": done.has_more, "message": message}
