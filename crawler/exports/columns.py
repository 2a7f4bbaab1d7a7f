"""Which columns an export of pages has, and what kind of value stands in each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from crawler.models import Crawl


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
"""What the values of an extraction rule of each type are, see `core.rules.TYPES`."""


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
