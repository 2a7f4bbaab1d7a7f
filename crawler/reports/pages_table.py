"""The pages of a crawl as a table somebody searches, filters, sorts and leafs through: all of it in the database.

Text is compared as the bytes of its UTF-8, whatever the database would make of it, and looked for whatever the case of
ASCII letters: so both databases find the same, in the same order, and find it fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from django.db import connection
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Collate, Upper

from crawler import table
from crawler.core.errors import BadInput
from crawler.core.outcomes import Outcome
from crawler.core.pages_query import PagesQuery, Show, Sort, Span
from crawler.core.work import EXTERNAL, PAGE, SITEMAP
from crawler.models import Crawl, Page
from crawler.reports.dead_letters import dead_letters
from crawler.reports.orphans import orphans

PER_LEAF = 100  # rows shown at a time
COUNTED = 10_000  # rows at most; of more it is said that there are more

_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


@dataclass(frozen=True)
class Leaf:
    """The rows of the table that are shown at a time."""

    pages: list[Page]
    is_first: bool
    is_last: bool
    count: int  # rows on all leaves, as far as they are counted
    is_counted: bool  # False = there are more than `count`


def chosen(crawl: Crawl, query: PagesQuery) -> QuerySet[Page]:
    """All rows that are asked for, in the order that is asked for, wherever the query says to go on."""
    return _ordered(_narrowed(crawl, query), query.descending)


def leaf_of(crawl: Crawl, query: PagesQuery) -> Leaf:
    """The rows to show. A leaf begins behind the page the query names, or ends ahead of it, or is read backwards from
    the end, so the thousandth and the last cost no more than the second. BadInput when the crawl has no such page.

    First the ids alone are put in order, then these few rows are read: a row is much longer than what it is sorted by.
    """
    rows, goes_back = _narrowed(crawl, query), query.at_end or query.before is not None
    beyond = rows if query.mark is None else rows.filter(_beyond(crawl, query))
    ids = list(_ordered(beyond, query.descending != goes_back).values_list("id", flat=True)[: PER_LEAF + 1])
    has_more = len(ids) > PER_LEAF
    if goes_back and not has_more:
        return leaf_of(crawl, query.from_the_start())
    ids, is_first = ids[:PER_LEAF], query.mark is None and not query.at_end
    count = len(ids) if is_first and not has_more else _count(crawl, query, rows)
    return Leaf(
        pages=_read(ids[::-1] if goes_back else ids),
        is_first=is_first,
        is_last=query.at_end or (not goes_back and not has_more),
        count=min(count, COUNTED) if query.is_narrowed else count,
        is_counted=not query.is_narrowed or count <= COUNTED,
    )


def in_order_from(crawl: Crawl, query: PagesQuery) -> QuerySet[Page]:
    """All rows that are asked for, behind the page the query names. BadInput when the crawl has no such page."""
    rows = _narrowed(crawl, query)
    return _ordered(rows if query.mark is None else rows.filter(_beyond(crawl, query)), query.descending)


def _read(ids: list[int]) -> list[Page]:
    of_id = Page.objects.in_bulk(ids)
    return [of_id[page] for page in ids if page in of_id]


def _count(crawl: Crawl, query: PagesQuery, rows: QuerySet[Page]) -> int:
    """How many rows there are; of more than COUNTED, so many that it can be seen."""
    return rows.order_by()[: COUNTED + 1].count() if query.is_narrowed else crawl.discovered


def _narrowed(crawl: Crawl, query: PagesQuery) -> QuerySet[Page]:
    """The rows asked for, with `place`: what they are sorted by."""
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
            return table.in_order(crawl.id).exclude(outcome=Outcome.EXTERNAL)
        case Show.DEAD_LETTERS:
            return dead_letters(crawl)
        case Show.ORPHANS:
            return orphans(crawl)
        case Show.LISTED:
            return table.in_order(crawl.id).filter(kind=PAGE, in_sitemap=True)
        case Show.SITEMAPS:
            return table.in_order(crawl.id).filter(kind=SITEMAP)
        case Show.EXTERNALS:
            return table.in_order(crawl.id).filter(kind=EXTERNAL)


def _within(rows: QuerySet[Page], field: str, span: Span | None) -> QuerySet[Page]:
    if span is None:
        return rows
    if span.most is None:
        return rows.filter(**{f"{field}__gte": span.least})
    return rows.filter(**{f"{field}__range": (span.least, span.most)})


def _holding(rows: QuerySet[Page], text: str) -> QuerySet[Page]:
    """Those with this text in their URL or title. SQLite's LIKE takes ASCII letters for the same in either case."""
    if connection.vendor == "sqlite":
        return rows.filter(Q(url__icontains=text) | Q(title__icontains=text))
    wanted = text.translate(_UPPER)
    in_upper = {f"{field}_in_upper": Upper(_in_bytes(field)) for field in ("url", "title")}
    return rows.alias(**in_upper).filter(Q(url_in_upper__contains=wanted) | Q(title_in_upper__contains=wanted))


def _place(sort: Sort) -> Combinable:
    match sort:
        case Sort.FOUND:
            return F("id")
        case Sort.URL:
            return _in_bytes("url")
        case Sort.TITLE:
            return _in_bytes("title")
        case Sort.STATUS:  # the databases do not agree on where a row without a value comes
            return Coalesce("http_status", 0)
        case Sort.DEPTH:
            return F("depth")
        case Sort.SIZE:
            return F("bytes")
        case Sort.TIME:
            return F("elapsed_ms")


def _in_bytes(field: str) -> Combinable:
    return F(field) if connection.vendor == "sqlite" else Collate(field, "C")


def _ordered(rows: QuerySet[Page], descending: bool) -> QuerySet[Page]:
    order = ("-place", "-id") if descending else ("place", "id")
    return rows.order_by(*order)


def _beyond(crawl: Crawl, query: PagesQuery) -> Q:
    """What is true of the rows behind the page the query names, in the order they are read."""
    way = "lt" if query.descending != (query.before is not None) else "gt"
    later = Q(**{f"id__{way}": query.mark})
    place = _place_of(crawl, query)
    return later if query.sort is Sort.FOUND else Q(**{f"place__{way}": place}) | Q(place=place) & later


def _place_of(crawl: Crawl, query: PagesQuery) -> Any:
    found = Page.objects.filter(crawl=crawl, pk=query.mark or 0).annotate(place=_place(query.sort))
    for place in found.values_list("place", flat=True):
        return place
    raise BadInput("after", "This crawl has no such page to go on from; begin at the table's first rows.")
