"""The table of pages: its columns and cells, filters and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import itemgetter
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from django.db import connection
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Collate, Upper

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.pages.page_field import PAGE_TABLE, ColumnPlace, PageField, Sort, ValueType
from crawler.core.pages.page_fields import PAGE_FIELDS, SORTED_BY
from crawler.core.pages.page_query import OPEN, PagesQuery, Show, Span
from crawler.core.protocol.messages import EXTERNAL, PAGE, SITEMAP
from crawler.core.text.quantities import DASH
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import text
from crawler.reports.links import dead_letters, orphans
from crawler.storage import fields, queries

FIELD = "field:"  # before the name of an extraction rule, whose values are a column

Cell = Callable[[Page, PageFacts | None], str]


@dataclass(frozen=True)
class TableColumn:
    """A column besides the response and the URL, which are always shown."""

    name: str  # in the query string
    title: str
    cell: Cell
    sort: Sort | None = None  # None = the table cannot be sorted by it
    is_number: bool = False
    is_default: bool = False
    is_time: bool = False  # the cell is when the page was fetched


def size(page: Page) -> str:
    return text.size(page.bytes) if page.http_status else ""


def total_time(page: Page) -> str:
    if page.reused:
        return "cached"
    return f"{page.elapsed_ms:,} ms" if page.elapsed_ms or page.http_status else ""


def _value(field: PageField, page: Page, facts: PageFacts | None) -> Any:
    row = page if field.table == PAGE_TABLE else facts
    return getattr(row, field.attribute) if row else None


def _plain(field: PageField, page: Page, facts: PageFacts | None) -> str:
    """The value as readers read its type; "" for none."""
    value = _value(field, page, facts)
    match value:
        case None:
            return ""
        case bool():
            return value_words(value)
        case int():
            return text.count(value)
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S} UTC"
        case _:
            return str(value)


def _first_byte(page: Page, facts: PageFacts | None) -> str:
    return f"{facts.first_byte_ms:,} ms" if facts and not page.reused else ""


def _words(_: Page, facts: PageFacts | None) -> str:
    return text.count(facts.words) if facts and facts.words else ""


CELLS: dict[str, Cell] = {
    "bytes": lambda page, _: size(page),
    "elapsed_ms": lambda page, _: total_time(page),
    "first_byte_ms": _first_byte,
    "words": _words,
}
"""The fields whose cell depends on more than the value: nothing for what was not requested or not counted."""


def _column(field: PageField, shown: ColumnPlace) -> TableColumn:
    return TableColumn(
        name=shown.name,
        title=field.label,
        cell=CELLS.get(field.name, partial(_plain, field)),
        sort=field.ordering.key if field.ordering else None,
        is_number=field.type is ValueType.INTEGER,
        is_default=shown.is_default,
        is_time=field.type is ValueType.DATETIME,
    )


_COLUMN_FIELDS = sorted(((field.column.position, field) for field in PAGE_FIELDS if field.column), key=itemgetter(0))
COLUMNS = tuple(_column(field, field.column) for _, field in _COLUMN_FIELDS if field.column)


def columns_of(crawl: Crawl) -> tuple[TableColumn, ...]:
    """All columns of this crawl's table: page fields, and one for each extracted field."""
    return (*COLUMNS, *(TableColumn(FIELD + name, name, partial(_field, name)) for name in fields.names_of(crawl)))


def shown_columns(crawl: Crawl, chosen: Sequence[str]) -> list[TableColumn]:
    """The chosen columns that exist, or the default ones; always in the same order."""
    known = columns_of(crawl)
    return [column for column in known if column.name in chosen] or [column for column in known if column.is_default]


def facts_of(pages: Sequence[Page]) -> dict[int, PageFacts]:
    """The metadata of these pages by id."""
    return PageFacts.objects.in_bulk([page.pk for page in pages])


def value_words(value: Any) -> str:
    """An extracted value as text: a list with commas, a dash for none."""
    match value:
        case None:
            return DASH
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(value_words, value)) or DASH
        case _:
            return str(value)


def _field(name: str, _: Page, facts: PageFacts | None) -> str:
    return value_words(facts.fields.get(name)) if facts else ""


# Filters with the numbers of their pages, which come from the crawl's counters.


@dataclass(frozen=True)
class Facet:
    """One value of a filter."""

    value: str  # as the query string has it
    words: str
    pages: int

    @property
    def label(self) -> str:
        return f"{self.words} ({text.count(self.pages)})"


def outcome_facets(crawl: Crawl) -> list[tuple[str, list[Facet]]]:
    """The outcomes of the crawl's pages by their part of the receipt; open pages come last."""
    tallies = crawl.tallies
    found = [(category, list(_outcomes_of(category, tallies.outcomes))) for category in Category]
    groups = [(str(category), _with_all(category, facets)) for category, facets in found if facets]
    if tallies.open:
        groups.append((OPEN, [Facet(OPEN, text.outcome(""), tallies.open)]))
    return groups


def status_facets(crawl: Crawl) -> list[tuple[str, list[Facet]]]:
    """The status codes of the crawl's pages by class."""
    classes: dict[str, list[Facet]] = {}
    for code, pages in sorted(crawl.statuses.items()):
        if pages:
            classes.setdefault(f"{code[0]}xx", []).append(Facet(code, code, pages))
    return [(name, [_all_of(name, codes), *codes]) for name, codes in classes.items()]


def _outcomes_of(category: Category, outcomes: dict[str, int]) -> Iterator[Facet]:
    for outcome in Outcome:
        if outcome.category is category and outcomes.get(outcome.value):
            yield Facet(outcome.value, outcome.label, outcomes[outcome.value])


def _with_all(category: Category, facets: list[Facet]) -> list[Facet]:
    """With several facets of a category, the category comes first."""
    return facets if len(facets) == 1 else [_all_of(str(category), facets), *facets]


def _all_of(value: str, facets: list[Facet]) -> Facet:
    return Facet(value, f"All {value}", sum(facet.pages for facet in facets))


# Rows: the database searches, filters, sorts and pages.
#
# Text is compared as UTF-8 bytes, and searched without regard to the case of ASCII letters, so that both databases find
# the same rows in the same order, and fast.

ROWS_PER_PAGE = 100
MAX_COUNTED = 10_000  # rows; of more the table shows "more than"

_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


@dataclass(frozen=True)
class TablePage:
    """One page of the table."""

    pages: list[Page]
    is_first: bool
    is_last: bool
    count: int  # of all rows, up to MAX_COUNTED
    is_counted: bool  # False = there are more than `count`


def chosen(crawl: Crawl, query: PagesQuery) -> QuerySet[Page]:
    """All rows of a query in its order, without its position."""
    return _ordered(_narrowed(crawl, query), query.descending)


def table_page(crawl: Crawl, query: PagesQuery) -> TablePage:
    """The rows to show: those after or before the row the query names, or the last ones (keyset paging), so that any
    page costs the same. BadInput when the crawl has no such row.

    First only the ids are sorted, then these few rows are read, because a row is much longer than its sort key.
    """
    rows, goes_back = _narrowed(crawl, query), query.at_end or query.before is not None
    beyond = rows if query.mark is None else rows.filter(_beyond(crawl, query))
    ids = list(_ordered(beyond, query.descending != goes_back).values_list("id", flat=True)[: ROWS_PER_PAGE + 1])
    has_more = len(ids) > ROWS_PER_PAGE
    if goes_back and not has_more:
        return table_page(crawl, query.from_the_start())
    ids, is_first = ids[:ROWS_PER_PAGE], query.mark is None and not query.at_end
    count = len(ids) if is_first and not has_more else _count(crawl, query, rows)
    return TablePage(
        pages=_read(ids[::-1] if goes_back else ids),
        is_first=is_first,
        is_last=query.at_end or (not goes_back and not has_more),
        count=min(count, MAX_COUNTED) if query.is_narrowed else count,
        is_counted=not query.is_narrowed or count <= MAX_COUNTED,
    )


def in_order_from(crawl: Crawl, query: PagesQuery) -> QuerySet[Page]:
    """All rows of a query after the row it names. BadInput when the crawl has no such row."""
    rows = _narrowed(crawl, query)
    return _ordered(rows if query.mark is None else rows.filter(_beyond(crawl, query)), query.descending)


def _read(ids: list[int]) -> list[Page]:
    of_id = Page.objects.in_bulk(ids)
    return [of_id[page] for page in ids if page in of_id]


def _count(crawl: Crawl, query: PagesQuery, rows: QuerySet[Page]) -> int:
    """The number of rows, MAX_COUNTED + 1 at most for a filtered table."""
    return rows.order_by()[: MAX_COUNTED + 1].count() if query.is_narrowed else crawl.discovered


def _narrowed(crawl: Crawl, query: PagesQuery) -> QuerySet[Page]:
    """The rows of a query, with their sort key as `place`."""
    rows = _shown(crawl, query.show)
    if query.outcomes is not None:
        rows = rows.filter(outcome__in=query.outcomes)
    rows = _within(rows, "http_status", query.statuses)
    rows = _within(rows, "depth", query.depths)
    if query.content_type:
        rows = rows.filter(content_type__startswith=query.content_type)
    if query.text:
        rows = _holding(rows, query.text)
    return rows.alias(place=_place(query.sort))


def _shown(crawl: Crawl, show: Show) -> QuerySet[Page]:
    match show:
        case Show.ALL:
            return queries.all_rows(crawl.id).exclude(outcome=Outcome.EXTERNAL)
        case Show.DEAD_LETTERS:
            return dead_letters(crawl)
        case Show.ORPHANS:
            return orphans(crawl)
        case Show.LISTED:
            return queries.all_rows(crawl.id).filter(kind=PAGE, in_sitemap=True)
        case Show.SITEMAPS:
            return queries.all_rows(crawl.id).filter(kind=SITEMAP)
        case Show.EXTERNALS:
            return queries.all_rows(crawl.id).filter(kind=EXTERNAL)


def _within(rows: QuerySet[Page], field: str, span: Span | None) -> QuerySet[Page]:
    if span is None:
        return rows
    if span.most is None:
        return rows.filter(**{f"{field}__gte": span.least})
    return rows.filter(**{f"{field}__range": (span.least, span.most)})


def _holding(rows: QuerySet[Page], text: str) -> QuerySet[Page]:
    """Rows with this text in their URL or title. SQLite's LIKE ignores the case of ASCII letters."""
    if connection.vendor == "sqlite":
        return rows.filter(Q(url__icontains=text) | Q(title__icontains=text))
    wanted = text.translate(_UPPER)
    in_upper = {f"{field}_in_upper": Upper(_in_bytes(field)) for field in ("url", "title")}
    return rows.alias(**in_upper).filter(Q(url_in_upper__contains=wanted) | Q(title_in_upper__contains=wanted))


def _place(sort: Sort) -> Combinable:
    field = SORTED_BY.get(sort)
    if field is None:
        return F("id")
    if field.is_text:
        return _in_bytes(field.path)
    # The databases differ in where they sort NULL.
    return Coalesce(field.path, 0) if field.is_nullable else F(field.path)


def _in_bytes(field: str) -> Combinable:
    return F(field) if connection.vendor == "sqlite" else Collate(field, "C")


def _ordered(rows: QuerySet[Page], descending: bool) -> QuerySet[Page]:
    order = ("-place", "-id") if descending else ("place", "id")
    return rows.order_by(*order)


def _beyond(crawl: Crawl, query: PagesQuery) -> Q:
    """The condition of the rows after the row that the query names, in reading order."""
    way = "lt" if query.descending != (query.before is not None) else "gt"
    later = Q(**{f"id__{way}": query.mark})
    place = _place_of(crawl, query)
    return later if query.sort is Sort.FOUND else Q(**{f"place__{way}": place}) | Q(place=place) & later


def _place_of(crawl: Crawl, query: PagesQuery) -> Any:
    found = Page.objects.filter(crawl=crawl, pk=query.mark or 0).annotate(place=_place(query.sort))
    for place in found.values_list("place", flat=True):
        return place
    raise BadInput("after", "This crawl has no such page to continue from; start at the first rows.")
