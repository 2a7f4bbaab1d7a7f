"""What one line of an export holds, whatever the format: the pages of a crawl as plain dictionaries."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple, TypedDict, Unpack

from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from crawler.content.storage import Gone, Place, Reader
from crawler.core.crawl.messages import EXTERNAL
from crawler.core.crawl.outcomes import Outcome
from crawler.core.errors import BadInput
from crawler.core.html.page_metadata import NOINDEX
from crawler.models import Crawl, Page, PageFacts

# Which columns an export of pages has, and what kind of value stands in each.


class Kind(StrEnum):
    """What the values of a column are, for formats that have types. Each may be missing."""

    TEXT = "text"
    NUMBER = "number"  # whole
    DECIMAL = "decimal"  # whole or not
    TRUTH = "truth"
    MOMENT = "moment"  # ISO 8601 in UTC
    DATE = "date"  # ISO 8601: a day, or a moment with or without its zone
    ANY = "any"  # whatever JSON can hold


@dataclass(frozen=True)
class Column:
    """One column of a table of pages."""

    name: str
    kind: Kind = Kind.TEXT
    many: bool = False  # the values are lists of this kind


OF_PAGES = (
    Column("url"),
    Column("status", Kind.NUMBER),
    Column("outcome"),
    Column("http_status", Kind.NUMBER),
    Column("content_type"),
    Column("title"),
    Column("depth", Kind.NUMBER),
    Column("parent"),
    Column("redirect_to"),
    Column("bytes", Kind.NUMBER),
    Column("elapsed_ms", Kind.NUMBER),
    Column("attempts", Kind.NUMBER),
    Column("fetched_at", Kind.MOMENT),
    Column("error"),
    Column("directives"),
    Column("rel"),
    Column("not_followed", Kind.NUMBER),
    Column("reused", Kind.TRUTH),
    Column("kind"),
    Column("in_sitemap", Kind.TRUTH),
    Column("linked", Kind.TRUTH),
    Column("lastmod"),
)
"""From the pages' own rows, of the same names; `parent` is the URL of theirs."""

OF_FACTS = (
    Column("description"),
    Column("h1"),
    Column("canonical"),
    Column("words", Kind.NUMBER),
    Column("first_byte_ms", Kind.NUMBER),
)
"""From what is kept beside a page that was answered."""

USUAL = (*OF_PAGES, *OF_FACTS)
NOTES = "field_notes"
"""Of a crawl that extracts fields: an object with a sentence for each field that has no value, or not all of it."""

TAKEN = frozenset((*(column.name for column in USUAL), NOTES))


OF_RULES = {
    "text": Kind.TEXT,
    "url": Kind.TEXT,
    "number": Kind.DECIMAL,
    "integer": Kind.NUMBER,
    "date": Kind.DATE,
    "boolean": Kind.TRUTH,
}
"""What the values of an extraction rule of each type are, see `core.extraction.rules.TYPES`."""


def columns_of(crawl: Crawl) -> tuple[Column, ...]:
    """The usual ones, then one for each field the crawl extracts, and one that says why some have no value."""
    rules = crawl.chosen.fields
    fields = (Column(column_name(rule.name), OF_RULES.get(rule.type, Kind.ANY), many=rule.many) for rule in rules)
    return (*USUAL, *fields, *([Column(NOTES, Kind.ANY)] if rules else []))


def fields_of(crawl: Crawl) -> list[str]:
    """The names of the crawl's extraction rules, in their order."""
    return [rule.name for rule in crawl.chosen.fields]


def column_name(field: str) -> str:
    """The column of an extracted field: its own name, or "field_NAME" where a usual column has that already."""
    return f"field_{field}" if field in TAKEN else field


# Which pages of a crawl an export tells of: the one place that reads what was asked for.

WIDEST = 10  # rows from a crawl's first to its last, for each of its own

NOT_INDEXED = Q(directives=NOINDEX) | Q(directives__startswith=f"{NOINDEX} ")  # it comes first in a record


class Chosen(TypedDict, total=False):
    """What may be asked of an export; nothing = all pages the receipt counts."""

    externals: bool  # in place of the pages the links that leave the site, asked for or only recorded
    among: QuerySet[Page]  # these rows alone and in their order, such as those of a report; not sliced


def selected(crawl: Crawl, **chosen: Unpack[Chosen]) -> QuerySet[Page]:
    """The pages, in the order of their discovery unless `among` has one. A crawl that obeys noindex leaves out pages
    that ask for it."""
    found = _asked_for(crawl, **chosen)
    if crawl.chosen.obey_noindex:
        found = found.exclude(NOT_INDEXED)
    return found if found.ordered else found.order_by("id")


def of_site_alone(what: str, **chosen: Unpack[Chosen]) -> None:
    """BadInput when links to other sites were asked for in a format that has no place for them."""
    if chosen.get("externals"):
        raise BadInput("externals", f"{what} holds pages of the site alone; leave out the links to other sites.")


def _asked_for(crawl: Crawl, **chosen: Unpack[Chosen]) -> QuerySet[Page]:
    among = chosen.get("among")
    if among is not None:
        return among.filter(crawl=crawl)
    found = _of(crawl)
    return found.filter(kind=EXTERNAL) if chosen.get("externals") else found.exclude(outcome=Outcome.EXTERNAL)


def _of(crawl: Crawl) -> QuerySet[Page]:
    """All its rows, so that they come in the order of their ids without being sorted: of a million SQLite would give
    the first after seven seconds and 60 MB of memory. It reads the table from the crawl's first row to its last
    instead, as long as not too many others stand between, and is told the crawl in a way no index serves."""
    mine = Page.objects.filter(crawl=crawl)
    known = mine.aggregate(first=Min("id"), last=Max("id"), number=Count("id"))
    if not known["number"] or known["last"] - known["first"] > WIDEST * known["number"]:
        return mine
    rows = Page.objects.alias(of=Coalesce("crawl_id", "crawl_id"))
    return rows.filter(id__range=(known["first"], known["last"]), of=crawl.id)


CHUNK = 1000  # pages in memory at a time; also the most parameters one look for parents or facts needs

KEYS = tuple(column.name for column in USUAL)
"""The keys of every row, in the order of a table's columns; those of extracted fields come behind them."""

_PAGE_KEYS = tuple(column.name for column in OF_PAGES)
_PAGE_FIELDS = ("id", *("parent_id" if key == "parent" else key for key in _PAGE_KEYS))
_FACT_FIELDS = tuple(column.name for column in OF_FACTS)
_NO_FACTS: Mapping[str, Any] = {**dict.fromkeys(_FACT_FIELDS), "fields": {}, "notes": {}}


def rows(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[dict[str, Any]]:
    """One row a page (see `selection`), in the order the pages were discovered; memory stays bounded however many there
    are.

    One query streams the pages; for each CHUNK of them one finds the parents' URLs and one the facts. `parent`,
    `outcome`, `http_status`, `redirect_to`, `fetched_at` and `canonical` are None where there is none, and so is all
    that only an answer tells; `fetched_at` is ISO 8601 in UTC. A field has the value that its rule made: text, a
    number, a truth value, a list, or None; behind the fields NOTES is an object, or None where nothing is missing.
    """
    names = {field: column_name(field) for field in fields_of(crawl)}
    pages = selected(crawl, **chosen).values(*_PAGE_FIELDS).iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        parents, facts = _urls(page["parent_id"] for page in chunk), _facts(page["id"] for page in chunk)
        yield from (_row(page, parents, facts.get(page["id"], _NO_FACTS), names) for page in chunk)


def page_rows(crawl: Crawl, page_ids: Sequence[int]) -> list[dict[str, Any]]:
    """The rows of some closed pages, in the order given, whatever they ask of robots."""
    names = {field: column_name(field) for field in fields_of(crawl)}
    found = Page.objects.filter(crawl=crawl, id__in=page_ids, status=Page.CLOSED)
    pages = {page["id"]: page for page in found.values(*_PAGE_FIELDS)}
    parents, facts = _urls(page["parent_id"] for page in pages.values()), _facts(pages)
    return [_row(pages[id], parents, facts.get(id, _NO_FACTS), names) for id in page_ids if id in pages]


def _urls(page_ids: Iterable[int | None]) -> dict[int, str]:
    wanted = {page_id for page_id in page_ids if page_id is not None}
    return dict(Page.objects.filter(id__in=wanted).values_list("id", "url"))


def _facts(page_ids: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    found = PageFacts.objects.filter(page_id__in=list(page_ids)).values("page_id", "fields", "notes", *_FACT_FIELDS)
    return {facts["page_id"]: facts for facts in found}


def _row(
    page: dict[str, Any], parents: dict[int, str], facts: Mapping[str, Any], names: dict[str, str]
) -> dict[str, Any]:
    row = dict(zip(("id", *_PAGE_KEYS), page.values(), strict=True))
    del row["id"]
    row["parent"] = parents.get(page["parent_id"])
    row["outcome"] = page["outcome"] or None
    row["redirect_to"] = page["redirect_to"] or None
    row["fetched_at"] = page["fetched_at"].isoformat(timespec="milliseconds") if page["fetched_at"] else None
    row.update((name, facts[name]) for name in _FACT_FIELDS)
    row["canonical"] = facts["canonical"] or None
    row.update((name, facts["fields"].get(field)) for field, name in names.items())
    if names:
        row[NOTES] = facts["notes"] or None
    return row


# The pages whose content was kept in one form, and where it is.

log = logging.getLogger(__name__)

# pages in memory at a time


class Kept(NamedTuple):
    """One page's content."""

    page: int
    url: str
    member: bytes  # as it is in the storage: one gzip member or two


def check_kept(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> None:
    """BadInput when the crawl keeps nothing of this form, or links to other sites were asked for."""
    of_site_alone("Kept content", **chosen)
    if form not in crawl.chosen.keep:
        raise BadInput(
            "format", f"This crawl kept no content as {form}; start one that does, with --keep {form} or on the form."
        )


def kept(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[Kept]:
    """The pages that were kept in this form, in the order of an export. What cannot be read any more is left out."""
    with Reader() as reader:
        for page, url, place in _places(form, crawl, **chosen):
            try:
                yield Kept(page, url, reader.read(place))
            except Gone as error:
                log.warning("crawl %s: the content of page %s is left out: %s", crawl.id, page, error)


def _places(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[tuple[int, str, Place]]:
    pages = selected(crawl, **chosen).values_list("id", "url").iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        found = PageFacts.objects.filter(page_id__in=[page for page, _ in chunk]).values_list("page_id", "kept")
        places = {page: places[form] for page, places in found if isinstance(places.get(form), list)}
        for page, url in chunk:
            if page in places:
                name, offset, length = places[page]
                yield page, url, (name, offset, length)
