"""Schemas of pages: the fields of an export's row, headers, metadata, links, and the filters of a list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from ninja import Path, Schema
from pydantic import Field, create_model

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_field import METADATA, PAGE_TABLE, PageField, Sort, ValueType
from crawler.core.pages.page_fields import EXPORTED, PARENT, fields_from
from crawler.core.pages.page_query import MAX_KEY, MAX_TEXT, OPEN, Show, read
from crawler.core.urls.normalise import key_of, parse_user_url
from crawler.models import Crawl, Page, PageFacts
from crawler.reports.page_parts import PartSchema, part_schemas
from crawler.reports.page_table import in_order_from
from crawler.storage.content.kept import is_kept

PageId = Annotated[int, Path(ge=0, le=MAX_KEY)]


TYPES: dict[ValueType, Any] = {
    ValueType.TEXT: str,
    ValueType.URL: str,
    ValueType.INTEGER: int,
    ValueType.FLOAT: float,
    ValueType.BOOLEAN: bool,
    ValueType.DATETIME: datetime,
    ValueType.JSON: dict[str, Any],
}


def _schema_field(field: PageField, *, is_optional: bool) -> tuple[Any, Any]:
    """As `create_model` takes it."""
    value_type = TYPES[field.type]
    return value_type | None if is_optional else value_type, Field(description=field.description)


if TYPE_CHECKING:
    PageLine = Schema
else:
    PageLine = create_model(
        "PageLine",
        __base__=Schema,
        __doc__="A page in a list.",
        id=(int, ...),
        **{
            field.name: _schema_field(field, is_optional=field.is_nullable or field.empty_is_null)
            for field in fields_from(PAGE_TABLE)
        },
    )


class PageList(Schema):
    """A page of a list of pages."""

    items: list[PageLine]
    next: str | None = Field(description="The address of the next page; null on the last one.")


class DeadLetter(PageLine):
    """A dead letter in a list over all crawls."""

    crawl: UUID = Field(description="The crawl it is a page of.")
    site: str = Field(description="That crawl's list, or its first start URL.")
    given_up_at: datetime | None = Field(
        description="When it became a dead letter; null if an older version did not record it."
    )


class DeadLetterPage(Schema):
    """A page of the list of dead letters."""

    items: list[DeadLetter]
    next: str | None = Field(description="The address of the next page; null on the last one.")


class MalformedLink(Schema):
    """A link of a page that cannot be parsed."""

    written: str = Field(description="The first 500 characters of its address as written.")
    text: str
    rel: str
    problem: str = Field(description="The error in it.")


class MalformedLinks(Schema):
    number: int
    links: list[MalformedLink] = Field(description="The first 100.")


_STRUCTURED: dict[str, tuple[Any, Any]] = {
    "headers": (list[str], Field(description="As sent, one a line.")),
    "insecure": (list[str], Field(description="The resources that an https page loads over http.")),
    "malformed": (MalformedLinks | None, Field(description="Links that cannot be parsed; null without any.")),
    "fields": (dict[str, Any], Field(description="The values of the crawl's extraction rules.")),
    "notes": (dict[str, str], Field(description="Field -> why its value is missing or incomplete.")),
}
"""Metadata in lists and objects, which no export has as a column."""


def _metadata_fields() -> dict[str, tuple[Any, Any]]:
    """In the order of the table's columns."""
    plain = {field.name: _schema_field(field, is_optional=field.is_nullable) for field in fields_from(METADATA)}
    known = {**plain, **_STRUCTURED}
    return {column.name: known[column.name] for column in PageFacts._meta.fields if column.name in known}


if TYPE_CHECKING:
    Facts = Schema
else:
    Facts = create_model(
        "Facts",
        __base__=Schema,
        __doc__="The headers and metadata of a page; null without a response.",
        **_metadata_fields(),
    )


def _schema_of(part: PartSchema) -> Any:
    """Of a capability's part of a page."""
    columns = fields_from(part.table.relation)
    fields: dict[str, Any] = {column.name: _schema_field(column, is_optional=column.is_nullable) for column in columns}
    return create_model(part.title, __base__=Schema, __doc__=part.about, **(fields | part.lists))


class KeptForm(Schema):
    """A form of kept content."""

    form: str
    url: str | None = Field(description="Its address; null when it was not stored.")
    why_not: str


class Step(Schema):
    """A page in a path or a chain of redirects."""

    page: int | None = Field(description="Its id; null when the crawl has no such page.")
    url: str
    outcome: str | None
    http_status: int | None


class PathStep(Step):
    leads_by: str = Field(description="How it leads to the next one: by a `link`, a `redirect` or as a `sitemap`.")


class SourcePage(Step):
    hops: int = Field(description="Redirects between it and the page.")


class FoundBy(Schema):
    steps: list[PathStep]
    is_whole: bool = Field(description="False when earlier pages are left out.")


class Redirects(Schema):
    onwards: list[Step] = Field(description="The chain of redirects to the final response.")
    is_loop: bool = Field(description="The chain leads back to the page.")
    sources: list[SourcePage] = Field(description="Pages that redirect here.")


class PagePaths(Schema):
    """How a page was found, and its redirects."""

    path: FoundBy = Field(description="The pages from a start URL to this one, each first found on the previous one.")
    redirects: Redirects


class _PageDetail(PageLine):
    hops: int = Field(description="Redirects between a link and this page.")
    deaths: int = Field(description="Workers that crashed while they processed it.")
    trap: int | None = Field(description="The id of the trap it is quarantined for.")
    facts: Facts | None


if TYPE_CHECKING:
    PageDetail = _PageDetail
else:
    PageDetail = create_model(
        "PageDetail",
        __base__=_PageDetail,
        __doc__="A page in full.",
        **{part.table.relation: (_schema_of(part) | None, ...) for part in part_schemas()},
        kept=(list[KeptForm], ...),
        links=(dict[str, str], Field(description="The addresses of its lists of links.")),
    )


class LinkOut(Schema):
    """A link of the page."""

    url: str
    text: str
    rel: str
    page: int | None = Field(description="The id of its target; null when the crawl has no such page.")
    http_status: int | None
    outcome: str | None


class LinkIn(Schema):
    """A link to the page."""

    page: str = Field(description="The URL of the page that has the link.")
    text: str
    rel: str


class LinksOut(Schema):
    items: list[LinkOut]
    next: str | None


class LinksIn(Schema):
    items: list[LinkIn]
    next: str | None


def lines_of(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """With the URLs of their parents, from one query."""
    parents = {page.parent_id for page in pages if page.parent_id is not None}
    urls = dict(Page.objects.filter(id__in=parents).values_list("id", "url"))
    return [_line_of(page, urls) for page in pages]


def letters_of(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """Dead letters, each with its crawl."""
    lines = zip(pages, lines_of(pages), strict=True)
    return [{**line, **_letter_of(page)} for page, line in lines]


def _letter_of(page: Page) -> dict[str, Any]:
    at = datetime.fromtimestamp(page.given_up_at, UTC) if page.given_up_at else None
    return {"crawl": page.crawl_id, "site": page.crawl.site, "given_up_at": at}


def whole_of(page: Page, below: str) -> dict[str, Any]:
    """`below`: the address of the page."""
    facts = PageFacts.objects.filter(page_id=page.pk).first()
    links = {"self": below, "out": f"{below}/links-out", "in": f"{below}/links-in", "ways": f"{below}/ways"}
    more = {"hops": page.hops, "deaths": page.deaths, "trap": page.trap_id, "kept": _kept_of(facts, below)}
    parts = {part.table.relation: part.table.values_of(page.pk) for part in part_schemas()}
    return {**lines_of([page])[0], **more, "facts": facts and _facts_of(facts), **parts, "links": links}


def _line_of(page: Page, urls: dict[int, str]) -> dict[str, Any]:
    fields = (field for field in fields_from(PAGE_TABLE) if field.name != PARENT)
    line = {field.name: _value_of(page, field) for field in fields}
    return {"id": page.pk, **line, PARENT: urls.get(page.parent_id or 0)}


def _value_of(page: Page, field: PageField) -> Any:
    value = getattr(page, field.attribute)
    return value or None if field.empty_is_null else value


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


EXAMPLE: dict[str, Any] = {"id": 4711, **{field.name: field.example for field in fields_from(PAGE_TABLE)}}

ROW_EXAMPLE = tuple(field.example for field in EXPORTED)
"""The same as a row of an export."""

WHOLE_EXAMPLE: dict[str, Any] = {
    **EXAMPLE,
    "hops": 0,
    "deaths": 0,
    "trap": None,
    "facts": {
        "headers": ["Content-Type: text/html; charset=utf-8"],
        **{field.name: field.example for field in fields_from(METADATA)},
        "insecure": [],
        "malformed": {
            "number": 1,
            "links": [{"written": "htp:/x", "text": "Manual", "rel": "", "problem": "unknown scheme htp"}],
        },
        "fields": {"price": None},
        "notes": {"price": "the pattern does not match what the selector finds"},
    },
    **{
        part.table.relation: {
            **{field.name: field.example for field in fields_from(part.table.relation)},
            **part.example,
        }
        for part in part_schemas()
    },
    "kept": [{"form": "markdown", "url": "/api/v1/crawls/.../pages/4711/content/markdown", "why_not": ""}],
    "links": {"self": "/api/v1/crawls/.../pages/4711", "out": "/api/v1/crawls/.../pages/4711/links-out"},
}

_STEP_EXAMPLE: dict[str, Any] = {"page": 4710, "url": "https://example.com/", "outcome": "2xx", "http_status": 200}
WAYS_EXAMPLE: dict[str, Any] = {
    "path": {"steps": [{**_STEP_EXAMPLE, "leads_by": "link"}], "is_whole": True},
    "redirects": {"onwards": [], "is_loop": False, "sources": [{**_STEP_EXAMPLE, "hops": 1}]},
}


_SHOW = {"sitemap": Show.SITEMAPS, "external": Show.EXTERNALS}


class PageFilters(Schema):
    """Filters, all of which a page must pass, and the order."""

    outcome: list[Outcome | Literal["open"]] = Field([], description="Only pages with this outcome.")
    http_status: int | None = Field(None, ge=100, le=999, description="Only pages with this HTTP status.")
    status: str = Field("", max_length=10, description="The same, or a class of them: `404`, `4xx`.")
    kind: Literal["page", "sitemap", "external"] | None = Field(
        None, description="By default, links to other sites that were not requested are omitted."
    )
    show: Show = Field(Show.ALL, description="Only these; not together with `kind`.")
    depth: str = Field("", max_length=20, description="Links from a start URL: `3`, or `3+` for three and more.")
    type: str = Field("", max_length=MAX_TEXT, description="Only pages whose content type begins with this.")
    q: str = Field("", max_length=MAX_TEXT, description="Only pages with this text in their URL or title.")
    url: str = Field("", max_length=5000, description="Only the page with this URL.")
    sort: str = Field(
        "",
        max_length=20,
        description=f"{', '.join(f'`{key}`' for key in Sort)}; with `-` before it in descending order.",
    )

    def pages(self, crawl: Crawl, after: int | None = None) -> QuerySet[Page]:
        """The rows after the page `after`, or all. BadInput for invalid filters."""
        rows = self._in_order(crawl, after)
        if self.kind is not None:
            rows = rows.filter(kind=self.kind)
        if self.outcome:
            rows = rows.filter(outcome__in=["" if chosen == OPEN else chosen for chosen in self.outcome])
        if self.http_status is not None:
            rows = rows.filter(http_status=self.http_status)
        return rows.filter(key=key_of(parse_user_url(self.url))) if self.url else rows

    def _in_order(self, crawl: Crawl, after: int | None) -> QuerySet[Page]:
        try:
            return in_order_from(crawl, read({name: [value] for name, value in self._parameters(after).items()}))
        except BadInput as error:
            raise BadInput("cursor" if error.field == "after" else error.field, error.raw) from None

    def _parameters(self, after: int | None) -> dict[str, str]:
        """As a query string, see `core.pages.page_query`."""
        return {
            "show": _SHOW.get(self.kind or "", self.show),
            "status": self.status,
            "depth": self.depth,
            "type": self.type,
            "q": self.q,
            "sort": self.sort,
            "after": "" if after is None else str(after),
        }
