"""Which pages of a crawl somebody asks for, and in what order: the same for the list and for a file."""

from __future__ import annotations

from typing import Literal

from django.db.models import QuerySet
from ninja import Schema
from pydantic import Field

from crawler.core.errors import BadInput
from crawler.core.outcomes import Outcome
from crawler.core.pages_query import MAX_TEXT, OPEN, Show, read
from crawler.core.urls import from_person, key_of
from crawler.models import Crawl, Page
from crawler.reports.pages_table import in_order_from

_SHOW = {"sitemap": Show.SITEMAPS, "external": Show.EXTERNALS}


class PageFilters(Schema):
    """All that is said must be true of a page."""

    outcome: list[Outcome | Literal["open"]] = Field([], description="Only pages that closed so.")
    http_status: int | None = Field(None, ge=100, le=999, description="Only pages that answered with this status.")
    status: str = Field("", max_length=10, description="The same, or a class of them: `404`, `4xx`.")
    kind: Literal["page", "sitemap", "external"] | None = Field(
        None, description="Without it, links that leave the site and were not asked for are left out."
    )
    show: Show = Field(Show.ALL, description="Only these; not beside `kind`.")
    depth: str = Field("", max_length=20, description="Links from a start URL: `3`, or `3+` for three and more.")
    type: str = Field("", max_length=MAX_TEXT, description="Only pages whose content type begins so.")
    q: str = Field("", max_length=MAX_TEXT, description="Only pages with this text in their URL or title.")
    url: str = Field("", max_length=5000, description="Only the page with this URL.")
    sort: str = Field(
        "",
        max_length=20,
        description="`found`, `url`, `status`, `depth`, `size`, `time` or `title`; with `-` before it the other way.",
    )

    def pages(self, crawl: Crawl, after: int | None = None) -> QuerySet[Page]:
        """The rows behind that of the page `after`, or all. BadInput for what cannot be asked for."""
        rows = self._in_order(crawl, after)
        if self.kind is not None:
            rows = rows.filter(kind=self.kind)
        if self.outcome:
            rows = rows.filter(outcome__in=["" if chosen == OPEN else chosen for chosen in self.outcome])
        if self.http_status is not None:
            rows = rows.filter(http_status=self.http_status)
        return rows.filter(key=key_of(from_person(self.url))) if self.url else rows

    def _in_order(self, crawl: Crawl, after: int | None) -> QuerySet[Page]:
        try:
            return in_order_from(crawl, read({name: [value] for name, value in self._said(after).items()}))
        except BadInput as error:
            raise BadInput("cursor" if error.field == "after" else error.field, error.message) from None

    def _said(self, after: int | None) -> dict[str, str]:
        """As a query string says it, see `core.pages_query`."""
        return {
            "show": _SHOW.get(self.kind or "", self.show),
            "status": self.status,
            "depth": self.depth,
            "type": self.type,
            "q": self.q,
            "sort": self.sort,
            "after": "" if after is None else str(after),
        }
