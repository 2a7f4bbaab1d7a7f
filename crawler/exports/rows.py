"""The rows of an export in any format: the pages of a crawl as dictionaries."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypedDict, Unpack

import msgspec
from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from crawler.core.errors import BadInput
from crawler.core.html.page_metadata import NOINDEX
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_field import METADATA, PAGE_TABLE, ValueType
from crawler.core.pages.page_fields import EXPORTED, PARENT
from crawler.core.protocol.messages import EXTERNAL
from crawler.core.text.controls import by_surface
from crawler.models import Crawl, Page, PageFacts
from crawler.storage import fields
from crawler.storage.content.objects import ObjectMissing, Place, Reader
from crawler.storage.page_tables import page_tables


class ExportColumn(msgspec.Struct, frozen=True):
    """One column of a table of pages."""

    name: str
    type: ValueType = ValueType.TEXT
    many: bool = False  # the values are lists of this type


PAGE_COLUMNS = tuple(ExportColumn(field.name, field.type) for field in EXPORTED)
KEYS = tuple(column.name for column in PAGE_COLUMNS)
"""The keys of every row, in the order of a table's columns; extracted fields follow."""
NOTES = "field_notes"
"""The last column of a crawl that extracts fields: an object with the reason for each value that is missing."""

RESERVED_NAMES = frozenset((*KEYS, NOTES))

RULE_TYPES = {
    "text": ValueType.TEXT,
    "url": ValueType.URL,
    "number": ValueType.FLOAT,
    "integer": ValueType.INTEGER,
    "date": ValueType.DATE,
    "boolean": ValueType.BOOLEAN,
}
"""The types of the values of an extraction rule, see `core.extraction.rules.TYPES`, and of further fields."""


def columns_of(crawl: Crawl) -> tuple[ExportColumn, ...]:
    """The fields of a page, one column for each field the crawl extracts, and the notes on missing values."""
    found = {rule.name: _column(rule.name, rule.type, rule.many) for rule in crawl.chosen.fields}
    for name, kind in fields.found_types(crawl).items():  # they may replace what a rule found
        found[name] = _column(name, kind)
    return (*PAGE_COLUMNS, *found.values(), *([ExportColumn(NOTES, ValueType.JSON)] if found else []))


def _column(name: str, kind: str, many: bool = False) -> ExportColumn:
    return ExportColumn(column_name(name), RULE_TYPES.get(kind, ValueType.JSON), many)


def column_name(field: str) -> str:
    """The column of an extracted field: its own name, or "field_NAME" where a field of a page has that name."""
    return f"field_{field}" if field in RESERVED_NAMES else field


# Which pages an export contains.

MAX_ID_SPREAD = 10  # rows of any crawl between a crawl's first and last page, for each of its own

NOT_INDEXED = Q(directives=NOINDEX) | Q(directives__startswith=f"{NOINDEX} ")  # it comes first in a record


class ExportFilter(TypedDict, total=False):
    """What an export can be narrowed to; nothing = all pages the receipt counts."""

    externals: bool  # in place of the pages the links that leave the site, checked or only recorded
    among: QuerySet[Page]  # only these rows in their order, such as the rows of a report; not sliced


def selected(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> QuerySet[Page]:
    """The pages, in the order of their discovery unless `among` has one. A crawl that obeys noindex leaves out pages
    that ask for it."""
    found = _requested(crawl, **chosen)
    if crawl.chosen.obey_noindex:
        found = found.exclude(NOT_INDEXED)
    return found if found.ordered else found.order_by("id")


def refuse_externals(what: str, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when links to other sites are requested in a format that cannot hold them."""
    if chosen.get("externals"):
        raise BadInput("externals", f"{what} contains only pages of the site; leave out the links to other sites.")


def _requested(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> QuerySet[Page]:
    among = chosen.get("among")
    if among is not None:
        return among.filter(crawl=crawl)
    found = _rows_of(crawl)
    return found.filter(kind=EXTERNAL) if chosen.get("externals") else found.exclude(outcome=Outcome.EXTERNAL)


def _rows_of(crawl: Crawl) -> QuerySet[Page]:
    """All its rows in the order of their ids, without sorting: to sort a million SQLite needs seven seconds and 60 MB.
    The query reads the table from the crawl's first row to its last, unless too many rows of other crawls are between
    them, and names the crawl by an expression that no index covers."""
    mine = Page.objects.filter(crawl=crawl)
    known = mine.aggregate(first=Min("id"), last=Max("id"), number=Count("id"))
    if not known["number"] or known["last"] - known["first"] > MAX_ID_SPREAD * known["number"]:
        return mine
    rows = Page.objects.alias(of=Coalesce("crawl_id", "crawl_id"))
    return rows.filter(id__range=(known["first"], known["last"]), of=crawl.id)


CHUNK = 1000  # pages in memory at a time; also the most parameters of a query for parents or metadata

_PAGE_FIELDS = tuple((field.name, field.attribute) for field in EXPORTED if field.table == PAGE_TABLE)
_METADATA_FIELDS = tuple(field.name for field in EXPORTED if field.table == METADATA)
_FURTHER_FIELDS = tuple(field.name for field in EXPORTED if field.table not in (PAGE_TABLE, METADATA))
_PAGE_LOOKUPS = ("id", *("parent_id" if name == PARENT else attribute for name, attribute in _PAGE_FIELDS))
_NULL_WHEN_EMPTY = tuple(field.name for field in EXPORTED if field.empty_is_null and field.name != PARENT)
_TIMES = tuple(field.name for field in EXPORTED if field.type is ValueType.DATETIME)
_NO_METADATA: Mapping[str, Any] = {**dict.fromkeys(_METADATA_FIELDS), "fields": {}, "notes": {}}
_NOTHING_FURTHER: Mapping[str, Any] = dict.fromkeys(_FURTHER_FIELDS)


def rows(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[dict[str, Any]]:
    """One row a page (see `selected`), in the order the pages were discovered, with bounded memory.

    One query streams the pages; for each CHUNK of them one finds the parents' URLs, one the metadata, and one what each
    capability that the crawl uses has in a table of its own. Times are ISO 8601 in UTC. A page without a row in a table
    has None for all its fields. An extracted field has the value of its rule: text, a number, a boolean, a list, or
    None; NOTES is an object, or None where nothing is missing.
    """
    names = {field: column_name(field) for field in fields.names_of(crawl)}
    pages = selected(crawl, **chosen).values(*_PAGE_LOOKUPS).iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        yield from _rows_from(crawl, chunk, names)


def page_rows(crawl: Crawl, page_ids: Sequence[int]) -> list[dict[str, Any]]:
    """The rows of some closed pages in the order given, those with noindex included."""
    names = {field: column_name(field) for field in fields.names_of(crawl)}
    found = Page.objects.filter(crawl=crawl, id__in=page_ids, status=Page.CLOSED)
    pages = {page["id"]: page for page in found.values(*_PAGE_LOOKUPS)}
    return list(_rows_from(crawl, [pages[id] for id in page_ids if id in pages], names))


def _rows_from(crawl: Crawl, pages: Sequence[dict[str, Any]], names: dict[str, str]) -> Iterator[dict[str, Any]]:
    ids = [page["id"] for page in pages]
    parents, metadata = _urls(page["parent_id"] for page in pages), _metadata(ids)
    further = [table.exported(ids) for table in page_tables() if table.is_used(crawl.chosen)]
    for page in pages:
        known = {**_NOTHING_FURTHER, **metadata.get(page["id"], _NO_METADATA)}
        for rows_of_table in further:
            known.update(rows_of_table.get(page["id"], {}))
        yield _row(page, parents, known, names)


def _urls(page_ids: Iterable[int | None]) -> dict[int, str]:
    wanted = {page_id for page_id in page_ids if page_id is not None}
    return dict(Page.objects.filter(id__in=wanted).values_list("id", "url"))


def _metadata(page_ids: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    found = PageFacts.objects.filter(page_id__in=list(page_ids))
    return {row["page_id"]: row for row in found.values("page_id", "fields", "notes", *_METADATA_FIELDS)}


def _row(
    page: dict[str, Any], parents: dict[int, str], metadata: Mapping[str, Any], names: dict[str, str]
) -> dict[str, Any]:
    row: dict[str, Any] = {name: page.get(attribute) for name, attribute in _PAGE_FIELDS}
    row[PARENT] = parents.get(page["parent_id"])
    row.update((name, metadata[name]) for name in (*_METADATA_FIELDS, *_FURTHER_FIELDS))
    for name in _NULL_WHEN_EMPTY:
        row[name] = row[name] or None
    for name in _TIMES:
        row[name] = row[name].isoformat(timespec="milliseconds") if row[name] else None
    row.update((name, metadata["fields"].get(field)) for field, name in names.items())
    if names:
        row[NOTES] = metadata["notes"] or None
    return row


# The pages whose content was kept in one form.

log = logging.getLogger(__name__)


class KeptContent(NamedTuple):
    """The kept content of one page."""

    page: int
    url: str
    member: bytes  # as stored: one gzip member, or the members of its WARC records


def check_kept(form: str, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when the crawl keeps no content in this form, or links to other sites are requested."""
    refuse_externals("Kept content", **chosen)
    if form not in crawl.chosen.keep:
        raise BadInput("format", f"This crawl stored no content as {form}; start one that keeps it ({_keep(form)}).")


def _keep(form: str) -> str:
    return by_surface(command=f"--keep {form}", page="“Content”", api=f'`keep` with "{form}"')


def kept(form: str, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[KeptContent]:
    """The pages kept in this form, in the order of an export, without those whose content cannot be read any more."""
    with Reader() as reader:
        for page, url, place in _places(form, crawl, **chosen):
            try:
                yield KeptContent(page, url, reader.read(place))
            except ObjectMissing as error:
                log.warning("crawl %s: the content of page %s is left out: %s", crawl.id, page, error)


def _places(form: str, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[tuple[int, str, Place]]:
    pages = selected(crawl, **chosen).values_list("id", "url").iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        found = PageFacts.objects.filter(page_id__in=[page for page, _ in chunk]).values_list("page_id", "kept")
        places = {page: places[form] for page, places in found if isinstance(places.get(form), list)}
        for page, url in chunk:
            if page in places:
                name, offset, length = places[page]
                yield page, url, (name, offset, length)
