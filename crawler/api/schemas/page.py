"""A page of a crawl as the API shows it: the fields of an export's row, and what its server and the page said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from ninja import Path, Schema
from pydantic import Field

from crawler.content.storage import is_kept
from crawler.core.crawl.outcomes import Outcome
from crawler.core.crawl.page_query import MAX_KEY, MAX_TEXT, OPEN, Show, read
from crawler.core.errors import BadInput
from crawler.core.urls.normalise import from_person, key_of
from crawler.exports.rows import KEYS
from crawler.models import Crawl, Page, PageFacts
from crawler.reports.page_table import in_order_from

PageId = Annotated[int, Path(ge=0, le=MAX_KEY)]


class PageLine(Schema):
    """A page in a list."""

    id: int
    url: str
    status: int = Field(description="0 = open: its outcome is not known yet; 1 = closed.")
    outcome: str | None = Field(description="How it closed; null while it is open.")
    http_status: int | None
    content_type: str
    title: str
    depth: int = Field(description="Links from the nearest start URL.")
    parent: str | None = Field(description="The URL of the page it was first found on; null for a start URL.")
    redirect_to: str | None
    bytes: int
    elapsed_ms: int
    attempts: int
    fetched_at: datetime | None
    error: str
    directives: str = Field(description="What meta robots and X-Robots-Tag say.")
    rel: str
    not_followed: int
    reused: bool
    kind: str = Field(description="`page`, `sitemap`, or `external` for a link to another site.")
    in_sitemap: bool
    linked: bool
    lastmod: str
    given_up: bool = Field(description="A dead letter: it failed, and another try might do better.")


class PageList(Schema):
    """A page of a list of pages."""

    items: list[PageLine]
    next: str | None = Field(description="The address of the next page; null behind the last.")


class MalformedLink(Schema):
    """A link of a page that leads nowhere because of how it is written."""

    written: str = Field(description="Its address as written, the first 500 characters.")
    text: str
    rel: str
    problem: str = Field(description="What is wrong with it.")


class MalformedLinks(Schema):
    number: int
    links: list[MalformedLink] = Field(description="The first 100.")


class Facts(Schema):
    """What the server and the page said; null in place of all of it when nobody answered."""

    headers: list[str] = Field(description="As sent, one a line.")
    first_byte_ms: int
    description: str
    h1: str
    h1_count: int | None
    canonical: str
    canonicals: int
    words: int | None = Field(description="Of the visible text; null when they were not counted.")
    insecure: list[str] = Field(description="What an https page loads over http.")
    malformed: MalformedLinks | None = Field(description="Links that lead nowhere; null when there is none.")
    fields: dict[str, Any] = Field(description="What the crawl's extraction rules found.")
    notes: dict[str, str] = Field(description="Field -> why it has no value, or not all of it.")


class Kept(Schema):
    """A form in which the page's content was to be kept."""

    form: str
    url: str | None = Field(description="Where it can be had; null when it was not kept.")
    why_not: str


class Step(Schema):
    """A page on the way to another."""

    page: int | None = Field(description="Its id; null when the crawl has none there.")
    url: str
    outcome: str | None
    http_status: int | None


class PathStep(Step):
    leads_by: str = Field(description="How it leads to the next: by a `link`, a `redirect` or as a `sitemap`.")


class Source(Step):
    hops: int = Field(description="Redirects between it and the page.")


class FoundBy(Schema):
    steps: list[PathStep]
    is_whole: bool = Field(description="False when there are more before.")


class Redirects(Schema):
    onwards: list[Step] = Field(description="Where its redirect leads, one after the other, the last with the answer.")
    is_loop: bool = Field(description="They lead back.")
    sources: list[Source] = Field(description="Pages whose redirects lead here.")


class Ways(Schema):
    """How a page was found, and its redirects."""

    path: FoundBy = Field(description="The pages between a start URL and this one, each first found on that before it.")
    redirects: Redirects


class PageWhole(PageLine):
    """A page with all there is to know of it."""

    hops: int = Field(description="Redirects between it and the link that led here.")
    deaths: int = Field(description="Workers that died while it was in hand: asked for, or read.")
    trap: int | None = Field(description="The id of the trap that set it aside.")
    facts: Facts | None
    kept: list[Kept]
    links: dict[str, str] = Field(description="The addresses of its links out and in.")


class LinkOut(Schema):
    """A link of the page."""

    url: str
    text: str
    rel: str
    page: int | None = Field(description="The id of the page it leads to; null when the crawl has none there.")
    http_status: int | None
    outcome: str | None


class LinkIn(Schema):
    """A link to the page."""

    page: str = Field(description="The URL of the page it stands on.")
    text: str
    rel: str


class LinksOut(Schema):
    items: list[LinkOut]
    next: str | None


class LinksIn(Schema):
    items: list[LinkIn]
    next: str | None


def lines_of(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """With the URLs of their parents, which one query finds."""
    parents = {page.parent_id for page in pages if page.parent_id is not None}
    urls = dict(Page.objects.filter(id__in=parents).values_list("id", "url"))
    return [_line_of(page, urls) for page in pages]


def whole_of(page: Page, below: str) -> dict[str, Any]:
    """`below`: the address of the page."""
    facts = PageFacts.objects.filter(page_id=page.pk).first()
    links = {"self": below, "out": f"{below}/links-out", "in": f"{below}/links-in", "ways": f"{below}/ways"}
    more = {"hops": page.hops, "deaths": page.deaths, "trap": page.trap_id, "kept": _kept_of(facts, below)}
    return {**lines_of([page])[0], **more, "facts": facts and _facts_of(facts), "links": links}


def _line_of(page: Page, urls: dict[int, str]) -> dict[str, Any]:
    line = {name: getattr(page, name) for name in PageLine.model_fields if name != "parent"}
    return {
        **line,
        "parent": urls.get(page.parent_id or 0),
        "outcome": page.outcome or None,
        "redirect_to": page.redirect_to or None,
    }


def _kept_of(facts: PageFacts | None, below: str) -> list[dict[str, Any]]:
    forms = facts.kept if facts else {}
    return [
        {"form": form, "url": f"{below}/content/{form}", "why_not": ""}
        if facts and is_kept(facts, form)
        else {"form": form, "url": None, "why_not": str(place)}
        for form, place in forms.items()
    ]


def _facts_of(facts: PageFacts) -> dict[str, Any]:
    return {name: getattr(facts, name) for name in Facts.model_fields} | {"headers": facts.headers.splitlines()}


EXAMPLE: dict[str, Any] = {
    "id": 4711,
    "url": "https://example.com/docs/",
    "status": 1,
    "outcome": "2xx",
    "http_status": 200,
    "content_type": "text/html",
    "title": "Documentation",
    "depth": 1,
    "parent": "https://example.com/",
    "redirect_to": None,
    "bytes": 18_204,
    "elapsed_ms": 41,
    "attempts": 1,
    "fetched_at": "2026-11-21T10:00:00.700Z",
    "error": "",
    "directives": "",
    "rel": "",
    "not_followed": 0,
    "reused": False,
    "kind": "page",
    "in_sitemap": False,
    "linked": True,
    "lastmod": "",
    "given_up": False,
}

ROW_EXAMPLE = tuple(EXAMPLE.get(name) for name in KEYS)
"""The same as a row of an export."""

WHOLE_EXAMPLE: dict[str, Any] = {
    **EXAMPLE,
    "hops": 0,
    "deaths": 0,
    "trap": None,
    "facts": {
        "headers": ["Content-Type: text/html; charset=utf-8"],
        "first_byte_ms": 30,
        "description": "How to use it.",
        "h1": "Documentation",
        "h1_count": 1,
        "canonical": "https://example.com/docs/",
        "canonicals": 1,
        "words": 412,
        "insecure": [],
        "malformed": {
            "number": 1,
            "links": [{"written": "htp:/x", "text": "Manual", "rel": "", "problem": "unknown scheme htp"}],
        },
        "fields": {"price": None},
        "notes": {"price": "the pattern does not match what the selector finds"},
    },
    "kept": [{"form": "markdown", "url": "/api/v1/crawls/.../pages/4711/content/markdown", "why_not": ""}],
    "links": {"self": "/api/v1/crawls/.../pages/4711", "out": "/api/v1/crawls/.../pages/4711/links-out"},
}

_STEP_EXAMPLE: dict[str, Any] = {"page": 4710, "url": "https://example.com/", "outcome": "2xx", "http_status": 200}
WAYS_EXAMPLE: dict[str, Any] = {
    "path": {"steps": [{**_STEP_EXAMPLE, "leads_by": "link"}], "is_whole": True},
    "redirects": {"onwards": [], "is_loop": False, "sources": [{**_STEP_EXAMPLE, "hops": 1}]},
}


# Which pages of a crawl somebody asks for, and in what order: the same for the list and for a file.

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
        """As a query string says it, see `core.crawl.page_query`."""
        return {
            "show": _SHOW.get(self.kind or "", self.show),
            "status": self.status,
            "depth": self.depth,
            "type": self.type,
            "q": self.q,
            "sort": self.sort,
            "after": "" if after is None else str(after),
        }
